/* messages.h - messages with open files, on Unix sockets between processes of `gotrace record` */

#ifndef MESSAGES_H
#define MESSAGES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The address of a process's socket for a purpose, in Linux's abstract namespace; returns its size. */
static socklen_t address_for(struct sockaddr_un *to, const char *purpose, long process) {
  memset(to, 0, sizeof *to);
  to->sun_family = AF_UNIX;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                     (size_t)snprintf(to->sun_path + 1, sizeof to->sun_path - 1, "gotrace %s %ld", purpose, process));
}
#define FOR_CONTROL "record"
#define FOR_QUESTIONS "children"

#define MESSAGE_FILES 3 /* at most */

union message_room {
  char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(MESSAGE_FILES * sizeof(int))];
  struct cmsghdr aligned;
};

/* Sends a message with those of the files that are not -1. Never waits. */
static bool send_message(int socket, const void *data, size_t size, const int *files, unsigned count) {
  union message_room room;
  struct iovec content = {(void *)(uintptr_t)data, size};
  struct msghdr message;
  unsigned i, sent = 0;
  ssize_t result;
  memset(&room, 0, sizeof room);
  memset(&message, 0, sizeof message);
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  for (i = 0; i < count; i++)
    if (files[i] >= 0) memcpy(CMSG_DATA(&room.aligned) + sent++ * sizeof(int), &files[i], sizeof(int));
  if (sent) {
    message.msg_control = room.bytes;
    message.msg_controllen = (socklen_t)CMSG_SPACE(sent * sizeof(int));
    room.aligned.cmsg_level = SOL_SOCKET;
    room.aligned.cmsg_type = SCM_RIGHTS;
    room.aligned.cmsg_len = (socklen_t)CMSG_LEN(sent * sizeof(int));
  }
  do result = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (result < 0 && errno == EINTR);
  return result == (ssize_t)size;
}

/* Receives a message of this size. `files`: those that came with it, the others -1. `sender`: NULL: not wanted;
 * otherwise the socket must have SO_PASSCRED, and the kernel tells who has sent it. False: there is none, or another
 * one; see errno. */
static bool receive_message(int socket, void *data, size_t size, int *files, unsigned count, struct ucred *sender) {
  union message_room room;
  struct iovec content = {data, size};
  struct msghdr message;
  struct cmsghdr *with;
  size_t at;
  unsigned i, got = 0;
  ssize_t result;
  bool known = !sender;
  for (i = 0; i < count; i++) files[i] = -1;
  memset(&room, 0, sizeof room);
  memset(&message, 0, sizeof message);
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  do result = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (result < 0 && errno == EINTR);
  if (result < 0) return false;
  for (at = 0; at + sizeof *with <= message.msg_controllen; at += CMSG_ALIGN(with->cmsg_len)) {
    with = (struct cmsghdr *)(void *)(room.bytes + at);
    if (with->cmsg_len < sizeof *with) break;
    if (with->cmsg_level != SOL_SOCKET) continue;
    if (with->cmsg_type == SCM_CREDENTIALS && sender && with->cmsg_len == CMSG_LEN(sizeof *sender)) {
      memcpy(sender, CMSG_DATA(with), sizeof *sender);
      known = true;
    }
    if (with->cmsg_type != SCM_RIGHTS) continue;
    for (i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= with->cmsg_len; i++) {
      int file;
      memcpy(&file, CMSG_DATA(with) + i * sizeof(int), sizeof file);
      if (got < count) files[got++] = file;
      else close(file);
    }
  }
  if (known && result == (ssize_t)size) return true;
  for (i = 0; i < got; i++) {
    close(files[i]);
    files[i] = -1;
  }
  errno = result ? EPROTO : ECONNRESET;
  return false;
}

#endif
