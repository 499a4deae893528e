/* What the wheel has instead of libjbig, which is under the GPL and which Debian's libtiff needs to be
 * loaded. impipe refuses TIFFs compressed by JBIG anyhow: libtiff does not decode their rows. */
#include <stddef.h>

void jbg_dec_init(void *state) { (void)state; }
void jbg_dec_free(void *state) { (void)state; }
unsigned char *jbg_dec_getimage(const void *state, int plane) {
  (void)state, (void)plane;
  return NULL;
}
unsigned long jbg_dec_getsize(const void *state) {
  (void)state;
  return 0;
}
/* Anything but 0, 1 and 2 is an error. */
int jbg_dec_in(void *state, unsigned char *data, size_t length, size_t *count) {
  (void)state, (void)data, (void)length, (void)count;
  return 3;
}
int jbg_newlen(unsigned char *data, size_t length) {
  (void)data, (void)length;
  return 3;
}
const char *jbg_strerror(int number) {
  (void)number;
  return "JBIG is not part of this package";
}

/* The encoder, which impipe does not use. */
void jbg_enc_init(void *state, unsigned long width, unsigned long height, int planes,
                  unsigned char **from, void (*out)(unsigned char *, size_t, void *), void *file) {
  (void)state, (void)width, (void)height, (void)planes, (void)from, (void)out, (void)file;
}
void jbg_enc_out(void *state) { (void)state; }
void jbg_enc_free(void *state) { (void)state; }
