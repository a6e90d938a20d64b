#!/usr/bin/env python3
"""Compares a trace of waits.c with what the program printed.

    waits.py TOOL TRACE OUTPUT
"""

import json
import subprocess
import sys

tool, trace, output = sys.argv[1:]
dump = subprocess.run([tool, 'dump', '--json', trace], stdout=subprocess.PIPE, check=True, text=True).stdout
names, creators, waits, labels, failures = {}, {}, {}, {}, []
blocked, in_call = {}, {}
for line in dump.splitlines():
    event = json.loads(line)
    kind, g, args, time = event['event'], event.get('g'), event.get('args', {}), event['time']
    if kind == 'GoCreate':
        names[args['new_g']] = args['new_stack'][0]['function']
        creators[args['new_g']] = names.get(g)
    elif kind == 'GoBlock':
        blocked[g] = (time, args['reason_string'], [f['function'] for f in args['stack']])
    elif kind == 'GoUnblock' and args['g'] in blocked:
        begin, reason, stack = blocked.pop(args['g'])
        waits.setdefault(names[args['g']], []).append((reason, names.get(g, '-'), time - begin, stack))
    elif kind == 'GoLabel':
        labels.setdefault(names[g], []).append(args['label_string'])
    elif kind.startswith('GoSyscallBegin'):
        in_call[g] = (time, [f['function'] for f in args['stack']])
    elif kind.startswith('GoSyscallEnd') and g in in_call:
        begin, stack = in_call.pop(g)
        waits.setdefault(names[g], []).append(('(system call)', '-', time - begin, stack))

count = 0
for line in open(output):
    name, reason, ender, least = line.rstrip('\n').split('|')
    count += 1
    found = [w for w in waits.get(name, []) if w[0] == reason]
    if [creators[g] for g in names if names[g] == name] != ['main']:
        failures.append(f'{name}: not created by main')
    if len(found) != 1:
        failures.append(f'{name}: {len(found)} waits for {reason}; all: {waits.get(name)}')
        continue
    _, by, length, stack = found[0]
    if by != ender:
        failures.append(f'{name}: ended by {by}, not by {ender}')
    if length < int(least):
        failures.append(f'{name}: waited {length} ns, not at least {least}')
    if len(stack) < 2 or stack[1] != name:
        failures.append(f'{name}: its stack is {stack}')
renamed = labels.get('wait_named', [])  # a label may be repeated when the goroutine starts again
renamed = [label for i, label in enumerate(renamed) if i == 0 or label != renamed[i - 1]]
if len(renamed) != 2 or 'from_main' not in renamed[0] or 'own_name' not in renamed[1]:
    failures.append(f'wait_named: its labels are {renamed}')
print('\n'.join(failures) or f'{count} waits as expected')
sys.exit(1 if failures or count < 55 else 0)
