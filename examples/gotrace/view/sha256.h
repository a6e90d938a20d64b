/* sha256.h - the hash by which a page's policy names its script and style */

#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(const uint8_t *data, size_t size, uint8_t hash[32]);

#endif
