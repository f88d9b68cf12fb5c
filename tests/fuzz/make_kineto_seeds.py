#!/usr/bin/env python3
"""Writes seeds for kineto_reader_fuzz and kineto_fuzz: make_kineto_seeds.py FOLDER [FILE...]

Small traces of every age, and of every FILE that is given (plain JSON) its first 4 kB. For
kineto_reader_fuzz each seed stands once behind each of its choices of sizes.
"""

import pathlib
import sys

TRACES = [
    '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,'
    '"ts":1.5,"dur":2,"args":{"External id":1,"Input Dims":[[2, 3],[]]}}],'
    '"baseTimeNanoseconds":1775078550000000000}',
    '[{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1,"dur":2,"args":'
    '{"device":0,"stream":7,"grid":[1,2,3],"correlation":5,"Collective name":"allreduce",'
    '"In msg nelems":8,"dtype":"Float","Process Group Ranks":"[0, 1, ..., 7]"}},\n'
    '{"ph":"s","id":5,"pid":1,"tid":1,"ts":0,"cat":"ac2g","name":"ac2g"},'
    '{"ph":"f","id":5,"pid":0,"tid":7,"ts":1,"cat":"ac2g","name":"ac2g"}]',
    '[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"x"},{"ph":"E","ts":2,"pid":1,"tid":1},'
    '{"ph":"C","ts":1,"pid":1,"name":"c","args":{"v":1e999,"w":NaN}},'
    '{"ph":"i","ts":1,"pid":1,"tid":1,"name":"[memory]","args":{"Bytes":-5,"Addr":1}},'
    '{"name":"{"a": "b"}","ph":"X"},{"name":"odd" quote","ph":"X"},{"name":"\x01\n","ph":"X"},',
    '{"distributedInfo":{"rank":1,"world_size":2,"pg_config":[{"pg_name":"0","ranks":[0,1]}]},'
    '"deviceProperties":[{"id":0,"name":"g"}],"traceEvents":[]}{"ph":"M","name":"thread_name"}',
]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    texts = [trace.encode() for trace in TRACES]
    texts += [pathlib.Path(name).read_bytes()[:4096] for name in sys.argv[2:]]
    for number, text in enumerate(texts):
        for sizes in range(8):
            (folder / f"{number}-{sizes}").write_bytes(bytes([sizes]) + text)


if __name__ == "__main__":
    main()
