/**
 * Certificates that the client shows to targets over TLS (RFC 8446 §4.4.2). A connection shows the
 * certificate that it was opened with to the end, so connections of one certificate are never used
 * for requests with another certificate, or without: each certificate has pools of its own.
 */
import type { SecureContext } from 'node:tls';
import { loadCrypto, loadTls } from '../base/node-modules.ts';

export type ClientCertificate = {
  /** PEM: the certificate, and those of its issuers after it. */
  readonly certificate: string;
  /** PEM, not encrypted. */
  readonly privateKey: string;
};

/** The context of connections that show one certificate. */
type CertificateContext = {
  /** A key that only equal certificates with equal keys share. */
  readonly poolKey: string;
  /** Throws an error of node:tls for what is no certificate with its key. */
  readonly secureContext: () => SecureContext;
};

export type GetCertificateContext = (certificate: ClientCertificate) => CertificateContext;

/** Returns a function that makes one context for each certificate. */
export function createCertificateContexts(
  certificateAuthorities: readonly string[] | undefined,
): GetCertificateContext {
  const contexts = new WeakMap<ClientCertificate, CertificateContext>();
  return (certificate) => {
    const cachedContext = contexts.get(certificate);
    if (cachedContext !== undefined) return cachedContext;
    const context = {
      poolKey: computePoolKey(certificate),
      secureContext: lazySecureContext(certificateAuthorities, certificate),
    };
    contexts.set(certificate, context);
    return context;
  };
}

/** Makes the context at the first TLS connection, since reading the certificates takes time. */
export function lazySecureContext(
  certificateAuthorities: readonly string[] | undefined,
  clientCertificate: ClientCertificate | null = null,
): () => SecureContext {
  let context: SecureContext | null = null;
  return () => {
    context ??= loadTls().createSecureContext({
      ...certificateAuthorities === undefined ? {} : { ca: [...certificateAuthorities] },
      ...clientCertificate === null ? {}
        : { cert: clientCertificate.certificate, key: clientCertificate.privateKey },
    });
    return context;
  };
}

function computePoolKey({ certificate, privateKey }: ClientCertificate): string {
  const text = JSON.stringify([certificate, privateKey]);
  return loadCrypto().createHash('sha256').update(text).digest('base64');
}
