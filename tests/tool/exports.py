#!/usr/bin/env python3
"""Checks the output of `gotrace export`: viewers find every slice and arrow in its place.

    tests/tool/exports.py [--parts] TRACE...     --parts: also of a part of each, and of one of its goroutines

Traces that `gotrace check` rejects are left out. Compressed, Perfetto's protobuf is at most twice as large as the trace, of
traces of at least SMALL bytes: below, most of it describes tracks.

Chrome's JSON: begins and ends balance, slices on a row nest, every arrow starts and ends inside a slice of its row, once
each, forwards in time; the process and each row have a name and a place. Perfetto's protobuf, decoded by protoc with
tests/tool/perfetto.proto: the same for its slices and flows; every name, frame and stack is interned before it is used; every
track is described before its first event; counters of goroutines agree with the slices of their tracks. Both have all CPU
samples. A part has the tasks, regions, collections and stopped worlds of the whole, cut at its ends; with a filter,
collections and stopped worlds are those of the whole, and begins and ends balance, too.
"""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

TOOL = "build/examples/gotrace"
SMALL = 4000


def fail(text):
    sys.exit(f"{current}: {text}")


def export(form, trace, *part):
    result = subprocess.run([TOOL, "export", form, *part, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        fail(f"export {form}: {result.stderr.decode()[:300]}")
    return result.stdout


SHARED = (1000000000, 1000000002)  # rows of collections and stopped worlds, as in chrome.c


def nanoseconds(microseconds):
    return round(1000 * microseconds)


def check_chrome(data, ranges=None):
    """Adds to `ranges` the tasks, regions, collections and stopped worlds: what, name, goroutine, begin, end, and whether the
    trace does not have its start."""
    ranges = [] if ranges is None else ranges
    events = json.loads(data.decode("utf-8"))["traceEvents"]
    rows = collections.defaultdict(list)  # open slices: name, begin
    last = collections.defaultdict(float)
    asynchronous = collections.defaultdict(list)
    arrows, names, counts, ended = {}, {}, collections.Counter(), {}
    for event in events:
        phase, key = event["ph"], (event["pid"], event["tid"])
        counts[phase] += 1
        if phase == "M":
            names.setdefault(event["name"], {})[key] = event["args"]
            continue
        time = event["ts"]
        if phase in "be":
            stack = asynchronous[event["cat"], event["id"]]
            if phase == "b":
                if time < ended.get(event["id"], 0):
                    fail(f"{event['id']} begins at {time}, before its end")
                stack.append((event["name"], time, event["args"].get("g"), "not in the trace" in event["args"].get("cut", "")))
            elif not stack or stack[-1][0] != event["name"] or stack[-1][1] > time:
                fail(f"end of {event['name']} {event['id']} at {time} without a start")
            else:
                name, begin, g, unknown = stack.pop()
                ended[event["id"]] = time if not stack else 0
                ranges.append((event["cat"], name, g, nanoseconds(begin), nanoseconds(time), unknown))
            continue
        if phase == "C":
            continue
        if time < last[key]:
            fail(f"row {key} goes back from {last[key]} to {time}")
        last[key] = time
        stack = rows[key]
        if phase == "B":
            stack.append((event["name"], time))
        elif phase == "E":
            if not stack or stack[-1][0] != event["name"]:
                fail(f"end of {event['name']} at {time} on row {key} without a start")
            name, begin = stack.pop()
            if key[1] in SHARED:
                ranges.append(("shared", name, None, nanoseconds(begin), nanoseconds(time), False))
        elif phase == "s":
            if not stack or event["id"] in arrows:
                fail(f"arrow {event['id']} starts at {time} in no slice, or again")
            arrows[event["id"]] = time
        elif phase == "f":
            if not stack or event.get("bp") != "e" or arrows.pop(event["id"], 1e300) > time:
                fail(f"arrow {event['id']} ends at {time} in no slice, or has no start")
        elif phase == "i":
            counts["sample"] += event["cat"] == "sample"
        else:
            fail(f"phase {phase}")
    for what, open_ones in (("slices", rows), ("ranges", asynchronous)):
        if any(open_ones.values()):
            fail(f"{what} without end: {[key for key in open_ones if open_ones[key]][:3]}")
    if arrows:
        fail(f"arrows without end: {list(arrows)[:3]}")
    if len(names["process_name"]) != 1 or len(names["process_sort_index"]) != 1:
        fail("no name of the process")
    for key in last:
        if not names["thread_name"][key]["name"] or not isinstance(names["thread_sort_index"][key]["sort_index"], int):
            fail(f"row {key} has no name and place")
    return counts


def parse(text):
    """The output of `protoc --decode`: a message is a dictionary of lists."""
    top, stack = {}, []
    message = top
    for line in text.split("\n"):
        line = line.strip()
        if line.endswith(" {"):
            stack.append(message)
            inner = {}
            message.setdefault(line[:-2], []).append(inner)
            message = inner
        elif line == "}":
            message = stack.pop()
        elif line:
            name, value = line.split(": ", 1)
            message.setdefault(name, []).append(value)
        if not stack and line == "}":
            yield message["packet"].pop()


def check_perfetto(data):
    text = subprocess.run(["protoc", "-Itests", "--decode=Trace", "tests/tool/perfetto.proto"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout.decode("latin-1")
    unknown = re.search(r"^ *[0-9]+(: | \{)", text, re.M)
    if unknown:
        fail(f"a field that tests/tool/perfetto.proto does not have: {unknown.group()}")
    interned = collections.defaultdict(dict)
    tracks, kinds, slices, flows = {}, {}, collections.defaultdict(list), {}
    counters, statuses, counts = {}, collections.Counter(), collections.Counter()
    events, first, now = [], True, 0
    for packet in parse(text):
        if first:
            if packet["trace_packet_defaults"] != [{"timestamp_clock_id": ["64"]}] or packet["clock_snapshot"] != [
                    {"clocks": [{"clock_id": ["6"], "timestamp": ["0"]}, {"clock_id": ["64"], "timestamp": ["0"], "is_incremental": ["true"]}]}]:
                fail("the clocks")
        if packet["trusted_packet_sequence_id"] != ["1"] or packet["sequence_flags"] != ["3" if first else "2"]:
            fail("flags of a packet")
        first = False
        for table, entries in packet.get("interned_data", [{}])[0].items():
            for entry in entries:
                iid = entry["iid"][0]
                if iid == "0" or iid in interned[table]:
                    fail(f"{table} {iid} is empty, or is there twice")
                for field, into in (("function_name_id", "function_names"), ("source_path_iid", "source_paths"),
                                    ("frame_ids", "frames")):
                    for used in entry.get(field, []):
                        if used not in interned[into] and not any(other["iid"][0] == used for other in
                                                                  packet["interned_data"][0].get(into, [])):
                            fail(f"{table} {iid} refers to {into} {used}, which is not there")
                interned[table][iid] = entry.get("name", entry.get("str", [""]))[0]
        if "track_descriptor" in packet:
            track = packet["track_descriptor"][0]
            uuid = track["uuid"][0]
            if uuid in tracks or ("parent_uuid" in track and track["parent_uuid"][0] not in tracks):
                fail(f"track {uuid} is described twice, or before its parent")
            tracks[uuid] = track
            if uuid != str(len(tracks)):
                fail(f"track {uuid} is the one with number {len(tracks)}")
        if "track_event" in packet:
            event = packet["track_event"][0]
            for field, table in (("category_iids", "event_categories"), ("name_iid", "event_names"),
                                 ("callstack_iid", "callstacks")):
                for used in event.get(field, []):
                    if used not in interned[table]:
                        fail(f"{field} {used} is not interned")
            for annotation in event.get("debug_annotations", []):
                if annotation["name_iid"][0] not in interned["debug_annotation_names"]:
                    fail("the name of a detail is not interned")
                if annotation.get("string_value_iid", [None])[0] not in (None, *interned["debug_annotation_string_values"]):
                    fail("the text of a detail is not interned")
            if event["track_uuid"][0] not in tracks:
                fail(f"track {event['track_uuid'][0]} is not described")
            time = int(packet["timestamp"][0])
            if "timestamp_clock_id" not in packet:
                now += time
            elif time >= now:
                fail(f"a time since the start, {time}, although the last one is {now}")
            events.append((time if "timestamp_clock_id" in packet else now, event))
    events.sort(key=lambda pair: pair[0])  # as the viewer does: events of the same time keep their order
    for time, event in events:
        uuid, kind = event["track_uuid"][0], event["type"][0]
        track, stack = tracks[uuid], slices[uuid]
        counts[kind] += 1
        name = interned["event_names"].get(event.get("name_iid", [""])[0], "")
        if "callstack_iid" in event:
            counts["callstack"] += 1
        counts["sample"] += name == '"CPU sample"'
        if kind == "COUNTER":
            if "counter" not in track:
                fail("the value of a counter on another track")
            if "double_counter_value" in event:
                counts["of the program"] += 1
            else:
                if track["counter"][0]["is_incremental"] != ["true"]:
                    fail("a counter that is not a sum")
                counters[track["name"][0]] = counters.get(track["name"][0], 0) + int(event["counter_value"][0])
            continue
        goroutine = tracks.get(track.get("parent_uuid", [""])[0], {}).get("name") == ['"goroutines"']
        if goroutine:
            counts["of goroutines"] += 1
        if kind == "SLICE_BEGIN":
            if not name and not goroutine and "category_iids" not in event:
                fail(f"a slice at {time} without name and category")
            if goroutine and stack:
                fail(f"two statuses of {track.get('name')} at {time}")
            stack.append(event)
            for flow in event.get("terminating_flow_ids", []):
                if flow not in flows or flows.pop(flow) > time:
                    fail(f"flow {flow} ends at {time} without a start")
                counts["flow"] += 1
        elif kind == "SLICE_END":
            if not stack:
                fail(f"the end of a slice at {time} on track {uuid} without a start")
            stack.pop()
        for flow in event.get("flow_ids", []):
            if kind != "INSTANT" or not stack and not goroutine or flow in flows:
                fail(f"flow {flow} begins at {time} in no slice")
            flows[flow] = time
    if any(slices.values()):
        fail("slices without end")
    if flows:
        fail(f"flows without end: {list(flows)[:3]}")
    for name in counters:
        if name.startswith('"goroutines') and counters[name] < 0:
            fail(f"{name}: {counters[name]}")
    return counts


def check_part(trace, whole, begin, end):
    """A part has what the whole has, cut at its ends, but cannot have what only an end after it tells."""
    part, options = [], ("--from", f"{begin}ns", "--to", f"{end}ns")
    check_chrome(export("--chrome", trace, *options), part)
    want = sorted((what, name, str(g), max(low, begin), min(high, end)) for what, name, g, low, high, unknown in whole
                  if low <= end and high >= begin and not (unknown and high > end))
    got = sorted((what, name, str(g), low, high) for what, name, g, low, high, _ in part)
    if got != want:
        fail(f"{options}: {[r for r in got if r not in want][:3]} instead of {[r for r in want if r not in got][:3]}")
    if have_protoc:
        check_perfetto(export("--perfetto", trace, *options))


def check_filter(trace, whole, g):
    """What all goroutines share is as without a filter; so are the goroutine's own regions."""
    some, options = [], ("--go", str(g))
    check_chrome(export("--chrome", trace, *options), some)
    for what, of in (("shared", None), ("region", g)):
        want, got = (sorted(r[1:2] + r[3:] for r in ranges if r[0] == what and r[2] == of) for ranges in (whole, some))
        if got != want:
            fail(f"{options}: {what}: {got[:3]} instead of {want[:3]}")
    if have_protoc:
        check_perfetto(export("--perfetto", trace, *options))
    for options in ("--proc", "0"), ("--reason", "sync"), ("--kind", "GoBlock,GoStart"):
        if options[0] != "--kind" and subprocess.run([TOOL, "info", *options, trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            continue  # the trace has no such proc or reason
        check_chrome(export("--chrome", trace, *options))
        if have_protoc:
            check_perfetto(export("--perfetto", trace, *options))


chrome, perfetto = collections.Counter(), collections.Counter()
checked, largest = 0, (0, None)
have_protoc = shutil.which("protoc")
parts = sys.argv[1:2] == ["--parts"]
for current in sys.argv[2 if parts else 1:]:
    if subprocess.run([TOOL, "check", current], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        continue  # Go would not open it either
    checked += 1
    data, whole = export("--chrome", current), []
    for way in "--chrome", "--perfetto":
        packed, plain = export(way, "--gzip", current), data if way == "--chrome" else export(way, current)
        if gzip.decompress(packed) != plain:
            fail(f"{way} --gzip contains something else")
        size = os.path.getsize(current)
        if way == "--perfetto" and size >= SMALL and len(packed) < len(plain):  # otherwise the tool is built without zlib
            largest = max(largest, (len(packed) / size, current))
            if len(packed) > 2 * size:
                fail(f"{len(packed)} bytes of --perfetto --gzip, of a trace of {size}")
    counts = [check_chrome(data, whole)]
    chrome += counts[0]
    if have_protoc:
        counts.append(check_perfetto(export("--perfetto", current)))
        perfetto += counts[1]
    dump = subprocess.run([TOOL, "dump", "--kind", "CPUSample", current], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "replace")
    samples = len(re.findall(r"^\d+ CPUSample", dump, re.M))
    for count in counts:
        if count["sample"] != samples:
            fail(f"{count['sample']} CPU samples, not {samples}")
    if parts:
        events = json.loads(data)["traceEvents"]
        last = nanoseconds(max(event.get("ts", 0) for event in events))
        check_part(current, whole, last // 3, last // 2)
        check_part(current, whole, last * 2 // 3, max(last - 1, last * 2 // 3))
        goroutines = collections.Counter(event["args"]["g"] for event in events if event["ph"] in "Bb" and "g" in event.get("args", {}))
        for g, _ in goroutines.most_common(1):
            check_filter(current, whole, g)
current = "all"
print(f"{checked} traces; --perfetto --gzip at most {largest[0]:.2f} times as large. Chrome: {dict(chrome)}; Perfetto: {dict(perfetto)}")
for phase in "BEsfbeiCM":
    if not chrome[phase]:
        fail(f"no event of phase {phase} in Chrome's JSON")
if have_protoc:
    for what in ("SLICE_BEGIN", "SLICE_END", "INSTANT", "COUNTER", "callstack", "flow", "of goroutines"):
        if not perfetto[what]:
            fail(f"no {what} in Perfetto's protobuf")
