/** The secrets of a webhook in the form in which a verifier and a signer take them. */
import type { VerifierSecret } from './verify.ts';

/** The stored members of a webhook that hold secrets. */
export type SecretMembers = {
  readonly secret?: string;
  readonly previousSecret?: { readonly secret: string; readonly validUntil: string };
};

/** The current secret first. */
export function listSecrets({ secret, previousSecret }: SecretMembers): VerifierSecret[] {
  const secrets: VerifierSecret[] = [];
  if (secret !== undefined) {
    secrets.push({ text: secret, secret: 'current', validUntilMs: Infinity });
  }
  if (previousSecret !== undefined) {
    const validUntilMs = Date.parse(previousSecret.validUntil);
    secrets.push({ text: previousSecret.secret, secret: 'previous', validUntilMs });
  }
  return secrets;
}
