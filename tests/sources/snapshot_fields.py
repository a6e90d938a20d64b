#!/usr/bin/env python3
"""Finds fields of the decoder's records that nobody has thought about for snapshots.

    tests/sources/snapshot_fields.py

Each field of these structs of gotrace.h is either saved by the functions of >>decode-snapshot, or named here with the cause
why it is not. A field that is neither is an error, and so is one here that does not exist.
"""
import re
import sys

GENERATION = "belongs to one generation; none is open"
SOURCE = "the source, or where it is read: set when the decoder is opened, moved by gotrace__v2_seek"
CACHE = "filled again when needed"
V1 = "only v1"
PART = "only parts, which have no snapshots"
RAW = "only raw decoders"
ARRAY = "an array or its index: its elements are saved"
RANGE = "only after skipped generations, when there is no snapshot"
OPTION = "follows from the format or the options"
RESULT = "the outcome so far: a decoder that has failed has no snapshot"

NOT_SAVED = {
    "gotrace_decoder": {
        OPTION: "options version kinds until room lifts lifted texts told_nothing",
        RESULT: "failure result pending info",
        "hashes of maps need not be the same": "seed",
        SOURCE: "at end offset window window_size at_end",
        RAW: "batch_at batch_end batch_whole batch_offset batch_cut tick raw_id",
        GENERATION: "string_twice stack_twice string_again stack_again experiment_given sample_given blocks queue "
                    "queue_count queue_given single fast mul min_tick snapshot generation_offset serial has_snapshot "
                    "has_frequency ended",
        ARRAY: "free_go free_open told_gos told_procs",
        "when to free what nobody refers to": "kept_bytes kept_least",
        RANGE: "skipped hopping",
        "set when a decoder resumes": "resumed",
        PART: "part scout scouted scout_time part_offset part_time begin_gc_sequence untimed begin_gc ended_gos",
        V1: "moved_given beginning untold stw_text ordinal parked gc_waiting from own on elsewhere file file_offset "
            "min_time any_futile any_procs gc_on stw_on",
        CACHE: "told_near",
    },
    "gotrace__dec_go": {
        V1: "created fresh futile timer calls order_status last new_stack blocked_at waiting wakeup v1",
        ARRAY: "regions region_capacity stw_capacity of v2",
    },
    "gotrace__dec_proc": {PART: "begin_status begin_sweep", V1: "told stw"},
    "gotrace__dec_task": {PART: "ended older newer", V1: "string"},
    "gotrace__cursor": {
        GENERATION: "next ahead left room at end base time batch first last generation buffer buffer_size",
        V1: "tick next_waiting",
        CACHE: "g_index p_index",
        PART: "begin_g begin_p begin_known begin_p_known begin_seen",
    },
    "gotrace__told": {},
    "gotrace__told_region": {},
    "gotrace__open": {ARRAY: "capacity next_free"},
    "gotrace__place": {},
    "gotrace__kept_frame": {},
    "gotrace__region_mark": {},
}
# Growing arrays of the decoder: see GOTRACE__DEC_ARRAYS.
ARRAYS_SAVED = "gos procs tasks cursors kept_texts kept_stacks kept_frames places opens tolds told_numbers"
ARRAYS_NOT = {
    GENERATION: "strings stacks pcs batches experiments heap samples unkept",
    RANGE: "spans",
    PART: "takens",
    V1: "moved wakes futile",
}


def fields_of(body):
    """The names of a struct's fields."""
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    body = re.sub(r"^#.*$|GOTRACE__DEC_\w+\(GOTRACE__DEC_FIELDS\)", "", re.sub(r"\\\n", " ", body), flags=re.M)
    names = re.findall(r"([A-Za-z_0-9]+)\s*(?:\[[^\]]*\]\s*)*(?::\s*1\s*)?[,;]", body)
    return names


def main():
    source = open("gotrace.h", encoding="utf-8").read()
    code = source[source.index(">>decode-snapshot -"):]
    code = code[:code.index(">>decode-public")]
    problems = []
    for name, causes in NOT_SAVED.items():
        found = re.search(r"(?:typedef )?struct " + name + r" \{(.*?)\n\}", source, re.S)
        names = fields_of(found.group(1))
        listed = {field: cause for cause, fields in causes.items() for field in fields.split()}
        for field in names:
            saved = re.search(r"(?:->|\.)" + field + r"\b", code) is not None
            if field not in listed and not saved:
                problems.append(f"{name}.{field} is not saved by a snapshot: save it, or say here why not")
        problems += [f"{name} has no field {field}" for field in listed if field not in names]
        if not names:
            problems.append(f"{name} was not found")
    arrays = re.findall(r"^  X\([\w]+, (\w+), \w+\)", source[source.index("#define GOTRACE__DEC_TABLES"):
                                                              source.index("struct gotrace_decoder {")], re.M)
    listed = ARRAYS_SAVED.split() + " ".join(ARRAYS_NOT.values()).split()
    problems += [f"the array {name} is not listed here" for name in arrays if name not in listed]
    problems += [f"there is no array {name}" for name in listed if name not in arrays]
    print("\n".join(problems) or f"{len(arrays)} arrays, {len(NOT_SAVED)} structs")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
