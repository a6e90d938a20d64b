/* Lua coroutines: producers and consumers, an iterator by wrap, one that fails, one that is closed, some that are
 * collected. The script counts what it does; the trace must have the same counts. */
#include "../../examples/adapters/lua.h"
#include "story.h"

#include <lualib.h>

static const char script[] =
    "counts = {created = 0, resumed = 0, ended = 0}\n"
    "local resume, create = coroutine.resume, coroutine.create\n"
    "local function go(f) counts.created = counts.created + 1; return create(f) end\n"
    "local function run(co, ...)\n"
    "  counts.resumed = counts.resumed + 1\n"
    "  return resume(co, ...)\n"
    "end\n"
    "local function producer(n) for i = 1, n do coroutine.yield(i) end; counts.ended = counts.ended + 1; end\n"
    "local sum = 0\n"
    "for p = 1, 20 do\n"
    "  local co = go(producer)\n"
    "  local ok, value = run(co, 10)\n"
    "  while value do sum = sum + value; ok, value = run(co) end\n"
    "end\n"
    "assert(sum == 20 * 55)\n"
    /* nested: a coroutine that resumes another */
    "local outer = go(function()\n"
    "  local inner = go(function(a) local b = coroutine.yield(a + 1); counts.ended = counts.ended + 1; return b * 2 "
    "end)\n"
    "  local ok, value = run(inner, 1); assert(value == 2)\n"
    "  coroutine.yield('between')\n"
    "  ok, value = run(inner, 21); assert(value == 42)\n"
    "  assert(coroutine.status(inner) == 'dead')\n"
    "  counts.ended = counts.ended + 1\n"
    "end)\n"
    "run(outer); run(outer)\n"
    /* wrap, as an iterator, and its errors */
    "counts.created = counts.created + 2\n"
    "local n = 0\n"
    "for i in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) do n = n + i end\n"
    "assert(n == 15); counts.resumed = counts.resumed + 6; counts.ended = counts.ended + 1\n"
    "local ok, message = pcall(coroutine.wrap(function() error('wrong') end))\n"
    "assert(not ok and message:find('wrong')); counts.resumed = counts.resumed + 1; counts.ended = counts.ended + 1\n"
    /* one that fails, is then dead, and cannot be resumed again */
    "local bad = go(function() error({}) end)\n"
    "ok, message = run(bad); assert(not ok and type(message) == 'table'); counts.ended = counts.ended + 1\n"
    "ok, message = resume(bad); assert(not ok)\n"
    "ok, message = pcall(resume, 1); assert(not ok)\n"
    /* closed while it waits: its variables are closed too */
    "local closed = false\n"
    "local waits = go(function() local v <close> = setmetatable({}, {__close = function() closed = true end})\n"
    "  coroutine.yield() end)\n"
    "run(waits); assert(coroutine.close(waits) and closed)\n"
    /* collected: never run, and while they wait */
    "for i = 1, 7 do go(producer) end\n"
    "for i = 1, 5 do run(go(producer), 3) end\n"
    "collectgarbage(); collectgarbage()\n";

static long count_of(lua_State *L, const char *name) {
  long count;
  lua_getglobal(L, "counts");
  lua_getfield(L, -1, name);
  count = (long)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return count;
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  long created, resumed, ended;
  CHECK(argc == 2 && L);
  luaL_openlibs(L);
  gotrace_lua_open(L);
  CHECK(gotrace_start_file(argv[1], NULL) == GOTRACE_OK);
  do {
    if (luaL_loadbuffer(L, script, sizeof script - 1, "=script") || lua_pcall(L, 0, 0, 0)) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      return 1;
    }
  } while (story_again());
  created = count_of(L, "created"), resumed = count_of(L, "resumed"), ended = count_of(L, "ended");
  CHECK(gotrace_stop() == GOTRACE_OK);
  lua_close(L);
  story_read(argv[1]);
  CHECK(created == 20 + 2 + 2 + 1 + 1 + 12);
  story_expect("created script:*", created);
  story_expect("created script:8", 32);
  story_expect("ended script:*", created); /* returned, failed, closed or collected */
  /* Each resume switches to a coroutine; the two of `inner` also block `outer` and switch back to it. A coroutine that
   * did not end by itself has one more start, for no time. */
  story_expect("started script:*", resumed + 2 + (created - ended));
  story_expect("blocked script:*", resumed - ended + 2);
  return 0;
}
