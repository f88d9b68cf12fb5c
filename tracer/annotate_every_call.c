/* Calls every function of annotate.h once, from C: annotate_*_test.cc look at the effect. */
#include "tracer/annotate.h"

void AnnotateEverythingFromC(void);

void AnnotateEverythingFromC(void) {
  tutti_step_begin(7);
  tutti_data_wait_begin("train", -1);
  tutti_data_wait_end();
  tutti_batch(64, 0);
  tutti_phase_begin(TUTTI_PHASE_FORWARD);
  tutti_phase_end();
  tutti_counter("loss", 0.25);
  tutti_truth("{\"kind\":\"none\"}");
  tutti_step_end();
}
