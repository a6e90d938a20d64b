/* State Threads: a server on loopback and its clients, a queue with condition variable and mutex, joins, time-outs. */
#include "../../examples/adapters/state_threads.h"
#include "story.h"

#include <arpa/inet.h>
#include <sys/socket.h>

enum { CLIENTS = 20, REQUESTS = 10, ITEMS = 50, SLEEPS = 5 };

static struct sockaddr_in address;
static st_cond_t filled;
static st_mutex_t lock;
static int items, waits;

static void *serve(void *argument) {
  st_netfd_t connection = (st_netfd_t)argument;
  char text[16];
  ssize_t size;
  while ((size = st_read(connection, text, sizeof text, ST_UTIME_NO_TIMEOUT)) > 0)
    CHECK(st_write(connection, text, (size_t)size, ST_UTIME_NO_TIMEOUT) == size);
  st_netfd_close(connection);
  return NULL;
}

static void *listen_for(void *argument) {
  int i;
  for (i = 0; i < CLIENTS; i++) {
    st_netfd_t connection = st_accept((st_netfd_t)argument, NULL, NULL, ST_UTIME_NO_TIMEOUT);
    CHECK(connection && st_thread_create(serve, connection, 0, 0));
  }
  return NULL;
}

static void *client(void *argument) {
  st_netfd_t connection = st_netfd_open_socket(socket(AF_INET, SOCK_STREAM, 0));
  char text[16];
  int i;
  (void)argument;
  CHECK(connection && st_connect(connection, (struct sockaddr *)&address, sizeof address, ST_UTIME_NO_TIMEOUT) == 0);
  for (i = 0; i < REQUESTS; i++) {
    CHECK(st_write(connection, "request", 7, ST_UTIME_NO_TIMEOUT) == 7);
    CHECK(st_read(connection, text, sizeof text, ST_UTIME_NO_TIMEOUT) == 7);
  }
  st_netfd_close(connection);
  st_thread_exit(NULL);
  return NULL;
}

static void *consumer(void *argument) {
  int i;
  (void)argument;
  for (i = 0; i < ITEMS; i++) {
    while (!items) waits++, st_cond_wait(filled);
    items--;
  }
  return NULL;
}

/* After a wait for a condition variable, it waits in a call that the adapter does not see. */
static st_cond_t rung;
static void *mixed(void *argument) {
  (void)argument;
  st_cond_wait(rung);
  (st_usleep)(50000);
  return NULL;
}

static void *ringer(void *argument) {
  (void)argument;
  st_cond_signal(rung);
  st_usleep(1000);
  st_cond_signal(rung); /* nobody waits for it */
  return NULL;
}

static void *producer(void *argument) {
  int i;
  (void)argument;
  for (i = 0; i < ITEMS; i++) {
    items++;
    st_cond_signal(filled);
    if (i % 3 == 0) st_usleep(1000);
  }
  return NULL;
}

static void *locker(void *argument) {
  (void)argument;
  st_mutex_lock(lock);
  st_usleep(1000);
  st_mutex_unlock(lock);
  return NULL;
}

static void *sleeper(void *argument) {
  int i;
  (void)argument;
  for (i = 0; i < SLEEPS; i++) st_usleep(1000);
  waits++;
  CHECK(st_cond_timedwait(filled, 1000) == -1);
  return NULL;
}

int main(int argc, char **argv) {
  st_thread_t joined[CLIENTS + 8];
  st_netfd_t listener;
  int i, count = 0, size = sizeof address, file;
  CHECK(argc == 2 && gotrace_st_init() == 0);
  CHECK(gotrace_start_file(argv[1], NULL) == GOTRACE_OK);
  filled = st_cond_new();
  rung = st_cond_new();
  lock = st_mutex_new();
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK((file = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
  CHECK(bind(file, (struct sockaddr *)&address, sizeof address) == 0 && listen(file, 100) == 0);
  CHECK(getsockname(file, (struct sockaddr *)&address, (socklen_t *)&size) == 0);
  CHECK((listener = st_netfd_open_socket(file)) != NULL);
  joined[count++] = st_thread_create(listen_for, listener, 1, 0);
  for (i = 0; i < CLIENTS; i++) joined[count++] = st_thread_create(client, NULL, 1, 0);
  joined[count++] = st_thread_create(consumer, NULL, 1, 0);
  joined[count++] = st_thread_create(producer, NULL, 1, 0);
  joined[count++] = st_thread_create(locker, NULL, 1, 0);
  joined[count++] = st_thread_create(locker, NULL, 1, 0);
  joined[count++] = st_thread_create(mixed, NULL, 1, 0);
  joined[count++] = st_thread_create(ringer, NULL, 1, 0);
  for (i = 0; i < count; i++) CHECK(joined[i] && st_thread_join(joined[i], NULL) == 0);
  joined[0] = st_thread_create(sleeper, NULL, 1, 0);
  st_thread_join(joined[0], NULL);
  st_usleep(10000); /* until the last servers have ended */
  CHECK(gotrace_stop() == GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created serve", CLIENTS);
  story_expect("ended serve", CLIENTS);
  story_expect("created client", CLIENTS);
  story_expect("ended client", CLIENTS);
  story_expect("ended listen_for", 1);
  /* The server answers when all clients wait, so each client waits for each answer. */
  story_expect("blocked client st_read", CLIENTS * REQUESTS);
  story_expect("blocked consumer sync.(*Cond).Wait", waits - 1);
  story_expect("blocked sleeper sync.(*Cond).Wait", 1);
  story_expect("woken consumer", waits - 1);
  story_expect("woken sleeper", 0);
  story_expect("blocked sleeper sleep", SLEEPS);
  story_expect("blocked producer sleep", (ITEMS + 2) / 3);
  story_expect("blocked locker sync", 1);
  story_expect("woken locker", 1);
  story_expect("woken mixed", 1);
  return 0;
}
