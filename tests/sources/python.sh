#!/usr/bin/env bash
# Every Python program compiles with each python3 on the machine. Newer ones reject more: 3.13 a docstring that cannot be
# encoded, which is therefore looked for by itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

mapfile -t programs < <(find tests examples fuzz -name '*.py')
status=0
for python in $(compgen -c | grep -E '^python3(\.[0-9]+)?$' | sort -u); do
  "$python" -c '' 2>/dev/null || continue # a version manager may have a wrapper of a version that is not there
  "$python" - "${programs[@]}" <<'PYTHON' || { echo "by $python"; status=1; }
import ast
import sys
import warnings

warnings.simplefilter("error")
failed = False
for name in sys.argv[1:]:
    try:
        with open(name, encoding="utf-8") as file:
            tree = ast.parse(file.read(), name)
        compile(tree, name, "exec")
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                (ast.get_docstring(node) or "").encode()
    except (SyntaxError, ValueError, Warning) as error:
        print(f"{name}: {error}")
        failed = True
sys.exit(failed)
PYTHON
done
exit $status
