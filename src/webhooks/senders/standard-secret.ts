/**
 * Secrets and keys in the forms of Standard Webhooks (standard-webhooks/spec, "Signature scheme"),
 * as people copy them. Pure.
 */

/** `v1,` stands before some in the pages of senders, such as Supabase's. */
const STANDARD_FORM = /^\s*(?:v1a?[,\s]\s*)?(whsec|whpk|whsk)[_:-]/i;
const PUBLIC_FORM =
  /^\s*(?:(?:v1a?[,\s]\s*)?whpk[_:-]|-----BEGIN (?:PUBLIC KEY|CERTIFICATE)-)/i;

/** `whsec_…`, `whpk_…` or `whsk_…` where that is meant, as by `v1,whsec_…` and `whsec-…`. */
export function normalizeStandardSecret(secret: string): string {
  const [start = '', prefix] = STANDARD_FORM.exec(secret) ?? [];
  return prefix === undefined
    ? secret : `${prefix.toLowerCase()}_${secret.slice(start.length).trimEnd()}`;
}

/** Whether it is a public key or a certificate: what anybody may know is no secret. */
export function isPublicKeyText(secret: string): boolean {
  return PUBLIC_FORM.test(secret);
}
