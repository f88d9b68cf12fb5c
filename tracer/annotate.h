/* What a training program can tell Tutti about itself: steps, phases, waits for data, batch
 * sizes and its own counters. Plain C, one header, nothing to link but libdl.
 *
 *   tutti_step_begin(step);
 *     tutti_data_wait_begin("train", queue_depth);  batch = next();  tutti_data_wait_end();
 *     tutti_batch(batch_size, 0);
 *     tutti_phase_begin(TUTTI_PHASE_FORWARD);       loss = forward(batch);  tutti_phase_end();
 *     ...
 *   tutti_step_end();
 *
 * Underneath it is NVTX 3 in the domain "tutti", so any other NVTX tool shows the same marks.
 * Without a tool in the process every call is a test of one static variable. Under `tutti
 * record` the first call makes the process a rank.
 *
 * Pairs nest per thread: end what was begun last, on the thread that began it. All functions
 * may be called from any thread, never fail and keep no pointer that they are given.
 *
 * Wire form (read by tracer/sources/nvtx): a push/pop range or a mark whose attributes carry a
 * category of tutti_annotation below, an ASCII message and a payload. */
#ifndef TUTTI_TRACER_ANNOTATE_H_
#define TUTTI_TRACER_ANNOTATE_H_

#include <stdint.h>
#include <string.h>

#include "nvtx3/nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_ANNOTATION_DOMAIN "tutti"

/* NVTX category of each annotation. Part of the contract: never renumber. */
typedef enum tutti_annotation {
  TUTTI_ANNOTATION_STEP = 1,      /* range, message "step", payload int64: number of the step */
  TUTTI_ANNOTATION_PHASE = 2,     /* range, message: name of the phase */
  TUTTI_ANNOTATION_DATA_WAIT = 3, /* range, message: loader, payload int64: queue depth or -1 */
  TUTTI_ANNOTATION_SAMPLES = 4,   /* mark, payload int64 */
  TUTTI_ANNOTATION_TOKENS = 5,    /* mark, payload int64 */
  TUTTI_ANNOTATION_COUNTER = 6,   /* mark, message: name, payload double */
  TUTTI_ANNOTATION_TRUTH = 7      /* mark, message: JSON */
} tutti_annotation;

typedef enum tutti_phase {
  TUTTI_PHASE_FORWARD = 0,
  TUTTI_PHASE_BACKWARD = 1,
  TUTTI_PHASE_OPTIMIZER = 2,
  TUTTI_PHASE_CHECKPOINT = 3,
  TUTTI_PHASE_EVALUATION = 4,
  TUTTI_PHASE_DATA = 5
} tutti_phase;

/* Lower-case name of a phase; "unknown" for a value that is none. */
static inline const char* tutti_phase_name(tutti_phase phase) {
  static const char* const kNames[] = {"forward",    "backward",   "optimizer",
                                       "checkpoint", "evaluation", "data"};
  const unsigned index = (unsigned)phase;
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "unknown";
}

/* The domain's handle, or NULL without a tool. Two threads that come here first at once may
 * both create the domain; tools take domains of one name as one. */
static inline nvtxDomainHandle_t tutti_annotation_domain(void) {
  static nvtxDomainHandle_t domain;
  static int created;
  if (!__atomic_load_n(&created, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&domain, nvtxDomainCreateA(TUTTI_ANNOTATION_DOMAIN), __ATOMIC_RELAXED);
    __atomic_store_n(&created, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&domain, __ATOMIC_RELAXED);
}

/* Attributes with neither payload nor colour. |message| may be NULL. */
static inline nvtxEventAttributes_t tutti_annotation_attributes(tutti_annotation category,
                                                                const char* message) {
  nvtxEventAttributes_t attributes;
  memset(&attributes, 0, sizeof(attributes));
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = (uint32_t)category;
  if (message) {
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = message;
  }
  return attributes;
}

static inline void tutti_annotation_set_int64(nvtxEventAttributes_t* attributes, int64_t value) {
  attributes->payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes->payload.llValue = value;
}

static inline void tutti_annotation_pop(void) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  if (domain) nvtxDomainRangePop(domain);
}

static inline void tutti_annotation_mark_int64(tutti_annotation category, int64_t value) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(category, NULL);
  tutti_annotation_set_int64(&attributes, value);
  nvtxDomainMarkEx(domain, &attributes);
}

/* One optimizer step; |step| counts from 0 and is the same on every rank. */
static inline void tutti_step_begin(int64_t step) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(TUTTI_ANNOTATION_STEP, "step");
  tutti_annotation_set_int64(&attributes, step);
  nvtxDomainRangePushEx(domain, &attributes);
}
static inline void tutti_step_end(void) { tutti_annotation_pop(); }

static inline void tutti_phase_begin(tutti_phase phase) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(TUTTI_ANNOTATION_PHASE, tutti_phase_name(phase));
  nvtxDomainRangePushEx(domain, &attributes);
}
static inline void tutti_phase_end(void) { tutti_annotation_pop(); }

/* Around the call that gets the next batch. |loader| names the data loader; |queue_depth| is
 * the number of finished batches that were waiting at this moment, -1 if unknown. */
static inline void tutti_data_wait_begin(const char* loader, int64_t queue_depth) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(TUTTI_ANNOTATION_DATA_WAIT, loader);
  tutti_annotation_set_int64(&attributes, queue_depth);
  nvtxDomainRangePushEx(domain, &attributes);
}
static inline void tutti_data_wait_end(void) { tutti_annotation_pop(); }

/* Size of the batch that this rank's current step trains on; 0 = does not apply. */
static inline void tutti_batch(int64_t samples, int64_t tokens) {
  if (samples > 0) tutti_annotation_mark_int64(TUTTI_ANNOTATION_SAMPLES, samples);
  if (tokens > 0) tutti_annotation_mark_int64(TUTTI_ANNOTATION_TOKENS, tokens);
}

/* A value of the program's own at this moment, such as its loss. */
static inline void tutti_counter(const char* name, double value) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(TUTTI_ANNOTATION_COUNTER, name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = value;
  nvtxDomainMarkEx(domain, &attributes);
}

/* For test workloads: what fault they inject, as a JSON object. It goes into the run's
 * manifest and never into its traces, so that no analysis can read the answer. */
static inline void tutti_truth(const char* json) {
  const nvtxDomainHandle_t domain = tutti_annotation_domain();
  nvtxEventAttributes_t attributes;
  if (!domain) return;
  attributes = tutti_annotation_attributes(TUTTI_ANNOTATION_TRUTH, json);
  nvtxDomainMarkEx(domain, &attributes);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TUTTI_TRACER_ANNOTATE_H_ */
