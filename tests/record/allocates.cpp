// allocates.cpp - threads that allocate, also in constructors of static objects, and free memory of other threads

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<char *> shared;
static std::string early(1000, 'x');

int main() {
  std::vector<std::thread> threads;
  unsigned long sum = 0;
  for (unsigned t = 0; t < 6; t++)
    threads.emplace_back([t, &sum] {
      unsigned long own = 0;
      for (unsigned i = 0; i < 20000; i++) {
        std::size_t size = (i * 37 + t) % 3000 + 1;
        char *p = static_cast<char *>(std::malloc(size)), *taken = nullptr;
        std::memset(p, 1, size);
        own += static_cast<unsigned char>(p[size - 1]);
        if (i % 8 == 0) {
          std::lock_guard<std::mutex> guard(lock);
          shared.push_back(p);
          if (shared.size() > 100) taken = shared.front(), shared.erase(shared.begin());
        } else {
          taken = p;
        }
        std::free(taken);
      }
      std::lock_guard<std::mutex> guard(lock);
      sum += own;
    });
  for (auto &t : threads) t.join();
  for (char *p : shared) std::free(p);
  std::printf("%lu %zu\n", sum, early.size());
}
