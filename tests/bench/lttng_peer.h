/* lttng_peer.h - LTTng-UST's provider for tests/bench/lttng_peer.c: the fields of a region, a log and an unblock.
 * Included several times, as LTTng's headers require. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gotrace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_peer.h"

#if !defined(LTTNG_PEER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PEER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(gotrace_bench, region_begin, LTTNG_UST_TP_ARGS(const char *, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))

LTTNG_UST_TRACEPOINT_EVENT(gotrace_bench, region_end, LTTNG_UST_TP_ARGS(const char *, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))

LTTNG_UST_TRACEPOINT_EVENT(gotrace_bench, log, LTTNG_UST_TP_ARGS(const char *, category, const char *, message),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(category, category)
                                                   lttng_ust_field_string(message, message)))

LTTNG_UST_TRACEPOINT_EVENT(gotrace_bench, unblock, LTTNG_UST_TP_ARGS(uint64_t, g),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, g, g)))

#endif

#include <lttng/tracepoint-event.h>
