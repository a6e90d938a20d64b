#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(void){return 0;}
