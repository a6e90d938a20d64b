/* serve.c - gives the page of traces, and parts of them, to a browser on this computer: see view.h
 *
 * A server for one user: on 127.0.0.1, at a port that the system chooses, below a path that nobody can guess. It
 * answers GET and HEAD for the page, `alive`, `trace0`, `trace1` and so on, and `index0` and so on for traces that have
 * an index. `alive` never ends; when no page holds it any more, the server ends a while later. What a request names as
 * Host must be this server, so that a page of another site cannot have its own name lead here. */

#include "../reading/index.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_CLIENTS 64
#define REQUEST_ROOM 4096
#define PATIENCE 20000 /* milliseconds in which a client must ask, or take more */
#define CLOSED 60000   /* milliseconds for which the server waits for a page that was closed */
#define TOKEN 32       /* digits of the path */

enum client_state { ASKING, TAKING, HOLDING };

typedef struct client {
  int fd;
  enum client_state state;
  int64_t until; /* when it has been too slow; not while HOLDING */
  size_t asked;
  char request[REQUEST_ROOM];
  char head[512];
  const uint8_t *body;
  size_t head_size, body_size, given; /* given: of head and body */
} client;

typedef struct server {
  int fd;
  unsigned port;
  char token[TOKEN + 1];
  const char *page;
  size_t page_size;
  const reader_trace *traces;
  size_t trace_count;
  client clients[MOST_CLIENTS];
  size_t count;
  int64_t held; /* when a page was last there; 0: none yet */
} server;

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void server_open(server *s) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  uint8_t random[TOKEN / 2];
  size_t i;
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) fail("no random numbers: %s", strerror(errno));
  for (i = 0; i < sizeof random; i++) snprintf(s->token + 2 * i, 3, "%02x", random[i]);
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(s->fd, 16) != 0 ||
      getsockname(s->fd, (struct sockaddr *)&address, &size) != 0)
    fail("cannot serve the page: %s", strerror(errno));
  s->port = ntohs(address.sin_port);
}

/* ---------------------------------------------------------------------------------------------------- requests ---- */

static void answer(client *c, const char *status, const char *type, const uint8_t *body, size_t size) {
  c->head_size =
      (size_t)snprintf(c->head, sizeof c->head,
                       "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
                       "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                       "Referrer-Policy: no-referrer\r\n\r\n",
                       status, type, size);
  c->body = body;
  c->body_size = size;
  c->given = 0;
  c->state = TAKING;
}

static void refuse(client *c, const char *status) { answer(c, status, "", NULL, 0); }

/* A header's value, up to the end of its line; NULL: there is none, or several. */
static const char *header(const char *request, const char *name, size_t *size) {
  const char *line, *found = NULL;
  size_t length = strlen(name);
  for (line = strstr(request, "\r\n"); line && line[2]; line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
    if (found) return NULL;
    found = line + 3 + length;
    found += strspn(found, " \t");
    *size = strcspn(found, "\r");
  }
  return found;
}

static bool is_for(const server *s, const char *request) {
  char name[32], local[32];
  size_t size = 0;
  const char *host = header(request, "Host", &size);
  snprintf(name, sizeof name, "127.0.0.1:%u", s->port);
  snprintf(local, sizeof local, "localhost:%u", s->port);
  return host && ((size == strlen(name) && memcmp(host, name, size) == 0) ||
                  (size == strlen(local) && memcmp(host, local, size) == 0));
}

/* Reads digits; false: there are none, or too many. */
static bool read_offset(const char **at, uint64_t *value) {
  const char *begin = *at;
  for (*value = 0; **at >= '0' && **at <= '9' && *at - begin < 18; (*at)++)
    *value = *value * 10 + (uint64_t)(**at - '0');
  return *at != begin && !(**at >= '0' && **at <= '9');
}

/* A file, or the range of it that is asked for: bytes=FIRST-LAST. */
static void answer_file(const uint8_t *data, size_t all, client *c) {
  size_t size = 0;
  const char *range = header(c->request, "Range", &size);
  char type[160];
  uint64_t first, last;
  if (!range) {
    answer(c, "200 OK", "Content-Type: application/octet-stream\r\n", data, all);
    return;
  }
  if (size < 6 || strncmp(range, "bytes=", 6) != 0 || (range += 6, !read_offset(&range, &first)) || *range++ != '-' ||
      !read_offset(&range, &last) || *range != '\r' || first > last || first >= all) {
    refuse(c, "416 Range Not Satisfiable");
    return;
  }
  if (last >= all) last = all - 1;
  snprintf(type, sizeof type, "Content-Type: application/octet-stream\r\nContent-Range: bytes %llu-%llu/%zu\r\n",
           (ull)first, (ull)last, all);
  answer(c, "206 Partial Content", type, data + first, (size_t)(last - first + 1));
}

/* The trace that a path names, or whose index it names by another `kind`; NULL: it names none. Both kinds have five
 * letters. */
static const reader_trace *names_trace(const server *s, const char *kind, const char *name, size_t size) {
  const char *at = name + 5;
  uint64_t number;
  bool right = size >= 6 && memcmp(name, kind, 5) == 0 && read_offset(&at, &number) && at == name + size &&
               (size == 6 || name[5] != '0') && number < s->trace_count;
  return right ? &s->traces[number] : NULL;
}

/* A request that is complete. */
static void answer_request(server *s, client *c) {
  char base[TOKEN + 3];
  bool head = strncmp(c->request, "HEAD ", 5) == 0;
  const char *path = c->request + (head ? 5 : 4), *name;
  const reader_trace *t;
  size_t size;
  if (!head && strncmp(c->request, "GET ", 4) != 0) {
    refuse(c, "405 Method Not Allowed");
    return;
  }
  size = strcspn(path, " \r");
  if (strncmp(path + size, " HTTP/1.", 8) != 0) {
    refuse(c, "400 Bad Request");
    return;
  }
  if (!is_for(s, c->request)) {
    refuse(c, "403 Forbidden");
    return;
  }
  if (size == 12 && memcmp(path, "/favicon.ico", 12) == 0) { /* browsers ask for it, and complain if it is missing */
    refuse(c, "204 No Content");
    return;
  }
  snprintf(base, sizeof base, "/%s/", s->token);
  if (size < sizeof base - 1 || memcmp(path, base, sizeof base - 1) != 0) {
    refuse(c, "404 Not Found");
    return;
  }
  name = path + sizeof base - 1;
  size -= sizeof base - 1;
  if (size == 0) {
    answer(c, "200 OK", "Content-Type: text/html; charset=utf-8\r\n", (const uint8_t *)s->page, s->page_size);
  } else if ((t = names_trace(s, "trace", name, size))) {
    answer_file(t->data, t->size, c);
  } else if ((t = names_trace(s, "index", name, size)) && t->index) {
    answer_file(t->index, t->index_size, c);
  } else if (size == 5 && memcmp(name, "alive", 5) == 0 && !head) {
    answer(c, "200 OK", "Content-Type: text/plain\r\n", NULL, 1); /* a byte that never comes */
    c->body_size = 0;
    c->state = HOLDING;
  } else {
    refuse(c, "404 Not Found");
  }
  if (head) c->body_size = 0;
}

/* ----------------------------------------------------------------------------------------------------- clients ---- */

static void drop_client(server *s, size_t which) {
  close(s->clients[which].fd);
  s->clients[which] = s->clients[--s->count];
}

static void accept_client(server *s) {
  client *c;
  int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  size_t i, oldest = MOST_CLIENTS;
  if (fd < 0) return;
  for (i = 0; s->count == MOST_CLIENTS && i < s->count; i++) /* the slowest gives way, but no page */
    if (s->clients[i].state != HOLDING && (oldest == MOST_CLIENTS || s->clients[i].until < s->clients[oldest].until))
      oldest = i;
  if (s->count == MOST_CLIENTS && oldest == MOST_CLIENTS) {
    close(fd);
    return;
  }
  if (s->count == MOST_CLIENTS) drop_client(s, oldest);
  c = &s->clients[s->count++];
  memset(c, 0, sizeof *c);
  c->fd = fd;
  c->until = milliseconds() + PATIENCE;
}

/* Reads more of a request. False: the client is gone, or asks too much. */
static bool hear(server *s, client *c) {
  char rest[64];
  ssize_t got = c->state == ASKING ? recv(c->fd, c->request + c->asked, REQUEST_ROOM - 1 - c->asked, 0)
                                   : recv(c->fd, rest, sizeof rest, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  if (c->state != ASKING) return true;
  if (memchr(c->request + c->asked, 0, (size_t)got)) return false;
  c->asked += (size_t)got;
  if (strstr(c->request, "\r\n\r\n")) {
    c->until = milliseconds() + PATIENCE;
    answer_request(s, c);
  } else if (c->asked == REQUEST_ROOM - 1) {
    refuse(c, "431 Request Header Fields Too Large");
  }
  return true;
}

/* Gives more of the answer. False: that is all, or the client is gone. */
static bool give_more(client *c) {
  bool head = c->given < c->head_size;
  const void *from = head ? (const void *)(c->head + c->given) : c->body + (c->given - c->head_size);
  size_t left = head ? c->head_size - c->given : c->head_size + c->body_size - c->given;
  ssize_t put = left ? send(c->fd, from, left, MSG_NOSIGNAL) : 0;
  if (put < 0) return errno == EAGAIN || errno == EINTR;
  if (put > 0) c->until = milliseconds() + PATIENCE;
  c->given += (size_t)put;
  return c->state == HOLDING || c->given < c->head_size + c->body_size;
}

static bool has_more(const client *c) { return c->given < c->head_size + c->body_size; }

/* One turn: waits for what clients do. */
static void serve_clients(server *s) {
  struct pollfd polled[1 + MOST_CLIENTS];
  size_t i, count = s->count;
  int64_t now;
  polled[0] = (struct pollfd){s->fd, POLLIN, 0};
  for (i = 0; i < count; i++) {
    const client *c = &s->clients[i];
    polled[1 + i] = (struct pollfd){c->fd, (short)(POLLIN | (c->state != ASKING && has_more(c) ? POLLOUT : 0)), 0};
  }
  if (poll(polled, 1 + (nfds_t)count, 1000) < 0 && errno != EINTR) fail("cannot serve the page: %s", strerror(errno));
  now = milliseconds();
  for (i = count; i-- > 0;) { /* from the end, since a client that goes is replaced by the last */
    client *c = &s->clients[i];
    bool stays = true;
    if (c->state == HOLDING) s->held = now;
    if (polled[1 + i].revents & (POLLERR | POLLNVAL)) stays = false;
    if (stays && polled[1 + i].revents & (POLLIN | POLLHUP)) stays = hear(s, c);
    if (stays && c->state != ASKING && has_more(c)) stays = give_more(c);
    if (stays && c->state != HOLDING && now > c->until) stays = false;
    if (!stays) drop_client(s, i);
  }
  if (polled[0].revents & POLLIN) accept_client(s);
}

void view_find_index(reader_trace *t) {
  char *name = index_path(t->name, t->set.index);
  struct stat status;
  void *data = MAP_FAILED;
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  free(name);
  if (fd < 0) return;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return;
  t->index = data;
  t->index_size = (size_t)status.st_size;
}

int view_serve(const reader_trace *traces, size_t count, bool quiet) {
  server *s = zeroed(sizeof *s);
  output page = {0};
  char address[96], *text = NULL;
  size_t text_size = 0;
  s->traces = traces;
  s->trace_count = count;
  page.file = open_memstream(&text, &text_size);
  if (!page.file) fail("out of memory");
  view_served_page(&page, traces, count);
  output_flush(&page);
  output_drop(&page);
  s->page = text;
  s->page_size = text_size;
  server_open(s);
  snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", s->port, s->token);
  printf("%s shows the %s until the page is closed, or Ctrl-C\n", address, count > 1 ? "traces" : "trace");
  if (fflush(stdout) != 0) fail("standard output: %s", strerror(errno));
  if (!quiet) start_browser(address);
  while (!s->held || milliseconds() - s->held < CLOSED) serve_clients(s);
  while (s->count) drop_client(s, 0);
  close(s->fd);
  free(text);
  free(s);
  return 0;
}
