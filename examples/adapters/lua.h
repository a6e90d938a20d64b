/* lua.h - Lua 5.4 coroutines as goroutines. Call gotrace_lua_open(L) once for each state, after luaL_openlibs.
 *
 *     in Lua                              becomes
 *     coroutine.create, coroutine.wrap    gotrace_go_create_blocked: named after the function's source and line
 *     coroutine.resume, a wrap's call     gotrace_go_switch: the caller blocks, the coroutine runs
 *     coroutine.yield                     gotrace_go_switch back to the caller
 *     the function returns or fails       gotrace_go_switch_end
 *     coroutine.close, collected          gotrace_go_destroy: it ends while it waits
 *
 * Lua has no hooks for these, so the functions of the table `coroutine` are replaced by ones that call the originals.
 * Coroutines that C code resumes itself, with lua_resume, are not traced. Call sites in the trace are lines of the
 * scripts. As Lua requires, only one thread at a time uses a state. The main program of a state is the goroutine of its
 * thread. */
#ifndef GOTRACE_LUA_H
#define GOTRACE_LUA_H

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lua.h>
#endif

#include "gotrace.h"

static const char gotrace_lua_handles = 0; /* its address is the registry key of the table coroutine -> handle */

/* The call site of a function on the stack of L: 0 is the innermost. */
static gotrace_site *gotrace_lua_place(lua_State *L, int level) {
  lua_Debug at;
  if (!gotrace_enabled() || !lua_getstack(L, level, &at)) return NULL;
  lua_getinfo(L, "Sln", &at);
  return gotrace_site_make(at.name ? at.name : "main", at.short_src, at.currentline > 0 ? (uint32_t)at.currentline : 0);
}

/* The handle of a coroutine. NULL: the main coroutine, or a coroutine made before gotrace_lua_open. */
static gotrace_go **gotrace_lua_handle(lua_State *L, int coroutine) {
  gotrace_go **handle;
  coroutine = lua_absindex(L, coroutine);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &gotrace_lua_handles);
  lua_pushvalue(L, coroutine);
  lua_rawget(L, -2);
  handle = (gotrace_go **)lua_touserdata(L, -1); /* the table keeps it alive */
  lua_pop(L, 2);
  return handle;
}

/* Whether a coroutine can be resumed: it has yielded, or has not started. */
static int gotrace_lua_is_suspended(lua_State *co) {
  lua_Debug at;
  return lua_status(co) == LUA_YIELD || (lua_status(co) == LUA_OK && !lua_getstack(co, 0, &at) && lua_gettop(co) > 0);
}

static int gotrace_lua_collect(lua_State *L) {
  gotrace_go **handle = (gotrace_go **)lua_touserdata(L, 1);
  if (*handle) gotrace_go_destroy(*handle);
  *handle = NULL;
  return 0;
}

/* coroutine.create(f): upvalue 1 is the original. */
static int gotrace_lua_create(lua_State *L) {
  lua_Debug function;
  gotrace_site *entry;
  gotrace_go **handle;
  char name[LUA_IDSIZE + 24];
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_getinfo(L, ">S", &function);
  snprintf(name, sizeof name, "%s:%d", function.short_src, function.linedefined);
  entry = gotrace_site_make(name, function.short_src, function.linedefined > 0 ? (uint32_t)function.linedefined : 0);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &gotrace_lua_handles);
  lua_pushvalue(L, 1);
  handle = (gotrace_go **)lua_newuserdatauv(L, sizeof *handle, 0);
  *handle = NULL;
  luaL_setmetatable(L, "gotrace.goroutine");
  gotrace_go_self(); /* makes the thread a goroutine, so that the coroutine has a creator */
  *handle = gotrace_go_create_blocked_at(gotrace_lua_place(L, 1), entry ? &entry->location : NULL);
  lua_rawset(L, -3);
  lua_settop(L, 1);
  return 1;
}

/* coroutine.resume(co, ...): upvalue 1 is the original. */
static int gotrace_lua_resume(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  gotrace_go **handle = co ? gotrace_lua_handle(L, 1) : NULL;
  gotrace_go *caller = NULL, *go = NULL;
  if (handle && *handle && gotrace_lua_is_suspended(co)) {
    go = *handle;
    caller = gotrace_go_self();
    gotrace_go_switch_at(gotrace_lua_place(L, 1), go);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  if (go && lua_status(co) == LUA_YIELD) {
    gotrace_go_switch_at(gotrace_lua_place(co, 1), caller);
  } else if (go) {
    *handle = NULL;
    gotrace_go_switch_end_at(NULL, caller);
  }
  return lua_gettop(L);
}

/* coroutine.close(co): upvalue 1 is the original. */
static int gotrace_lua_close(lua_State *L) {
  gotrace_go **handle = lua_isthread(L, 1) ? gotrace_lua_handle(L, 1) : NULL;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET); /* fails unless the coroutine is suspended or dead */
  if (handle && *handle) {
    gotrace_go_destroy_at(gotrace_lua_place(L, 1), *handle);
    *handle = NULL;
  }
  return lua_gettop(L);
}

/* A function returned by coroutine.wrap: upvalue 1 is the replaced resume, upvalue 2 the coroutine. */
static int gotrace_lua_wrapped(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_rotate(L, 1, 2);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  if (lua_toboolean(L, 1)) {
    lua_remove(L, 1);
    return lua_gettop(L);
  }
  if (lua_status(lua_tothread(L, lua_upvalueindex(2))) > LUA_YIELD)
    lua_resetthread(lua_tothread(L, lua_upvalueindex(2))); /* closes its variables */
  if (lua_type(L, -1) == LUA_TSTRING) {                    /* adds the position, as the original does */
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* coroutine.wrap(f): upvalue 1 is the replaced create, upvalue 2 the replaced resume. */
static int gotrace_lua_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_pushcclosure(L, gotrace_lua_wrapped, 2);
  return 1;
}

/* Replaces a function of the table on top of the stack with one whose upvalue 1 is the original. */
static void gotrace_lua_replace(lua_State *L, const char *name, lua_CFunction by) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, by, 1);
  lua_setfield(L, -2, name);
}

static inline void gotrace_lua_open(lua_State *L) {
  luaL_newmetatable(L, "gotrace.goroutine");
  lua_pushcfunction(L, gotrace_lua_collect);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L); /* coroutine -> handle, with weak keys */
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &gotrace_lua_handles);
  lua_getglobal(L, "coroutine");
  gotrace_lua_replace(L, "create", gotrace_lua_create);
  gotrace_lua_replace(L, "resume", gotrace_lua_resume);
  gotrace_lua_replace(L, "close", gotrace_lua_close);
  lua_getfield(L, -1, "create");
  lua_getfield(L, -2, "resume");
  lua_pushcclosure(L, gotrace_lua_wrap, 2);
  lua_setfield(L, -2, "wrap");
  lua_pop(L, 2);
}

#endif
