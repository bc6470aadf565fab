const UUID_FORM = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether it looks like an id that the server makes where nobody gave a name. */
export function isGeneratedId(text: string): boolean {
  return UUID_FORM.test(text);
}
