/** Signers that several senders have in common. */
import {
  FORM_TYPE, JSON_TYPE, hmacKey, join, row, textKey, whsecKey, type Sender,
} from './signer.ts';

/** `sha256=<hex>` of the body. */
export function hub(preset: string, header: string, settings = {}): Sender {
  return row({
    preset, header, settings, makeKey: textKey,
    send: ({ sign: mac }, { body, spell }) => ({
      query: '', body,
      headers: { ...JSON_TYPE, [header]: `sha256=${spell(mac(body).toString('hex'))}` },
    }),
  });
}

/** The bare signature of the body. */
export function bare(
  preset: string, header: string, encoding: 'hex' | 'base64', prefix = '',
): Sender {
  return row({
    preset, header, encoding, makeKey: textKey,
    send: ({ sign: mac }, { body, spell }) => ({
      query: '', body,
      headers: { ...JSON_TYPE, [header]: prefix + spell(mac(body).toString(encoding)) },
    }),
  });
}

/** Gitea signs the JSON that its form carries. */
export function giteaForm(preset: string, header: string): Sender {
  return row({
    preset, header, title: `${preset}, form`, makeKey: textKey,
    send: ({ sign: mac }, { body, spell }) => {
      const json = JSON.stringify({ note: body.toString('latin1') });
      return {
        query: '', body: Buffer.from(new URLSearchParams({ payload: json }).toString()),
        headers: { ...FORM_TYPE, [header]: spell(mac(Buffer.from(json)).toString('hex')) },
      };
    },
  });
}

/** Standard Webhooks. */
export function standard(preset: string, prefix: string): Sender {
  return row({
    preset, header: `${prefix}-signature`, encoding: 'base64', between: ' v1,', tolerance: 300,
    makeKey: whsecKey,
    send: ({ sign: mac }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, [`${prefix}-id`]: 'msg_1', [`${prefix}-timestamp`]: String(atS),
        [`${prefix}-signature`]:
          `v1,${spell(mac(join(`msg_1.${atS}.`, body)).toString('base64'))}`,
      },
    }),
  });
}

/** `v0:<time>:<body>`, as Slack and Zoom do. */
export function version0(preset: string, header: string, timeHeader: string): Sender {
  return row({
    preset, header, tolerance: 300, makeKey: textKey,
    send: ({ sign: mac }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, [timeHeader]: String(atS),
        [header]: `v0=${spell(mac(join(`v0:${atS}:`, body)).toString('hex'))}`,
      },
    }),
  });
}

/** The secret itself is sent. */
export function token(
  preset: string, header: string, write: (secret: string) => string,
  headers: Readonly<Record<string, string>> = {},
): Sender {
  return row({
    preset, header, encoding: 'text', coversBody: false,
    makeKey: (seed) => hmacKey(`user ${seed}:token`),
    send: ({ secret }, { body, spell }) => ({
      query: '', body, headers: { ...JSON_TYPE, ...headers, [header]: spell(write(secret)) },
    }),
  });
}
