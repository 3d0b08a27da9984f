import { decodeBase64, encodeBase64 } from '#util/base64.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type Certificate,
  issuerOf,
  type KeyedCertificate,
  type LeafCertificate,
  readAuthority,
  readCertificates,
  readPair,
} from './certificate.ts';

/**
 * The certificates of the webhook, as its Secret stores them. What is there is the step of a change of the authority:
 * `nextAuthority`: it is being written into all bundles. No `nextAuthority`, and more than one certificate in `bundle`: servers load the
 * leaf that it issued. Otherwise nothing changes.
 */
export interface CertificateState {
  /** Issues leaves. Undefined: its key was lost with the Secret, and `nextAuthority` takes its place. */
  readonly authority?: KeyedCertificate;
  /** Will issue leaves once every bundle has it. */
  readonly nextAuthority?: KeyedCertificate;
  /** What servers serve. Undefined: it is broken. */
  readonly leaf?: LeafCertificate;
  /** What clients trust (`caBundle`). */
  readonly bundle: readonly Certificate[];
  /** During a change of the authority: by server, the fingerprint of the leaf that it serves. */
  readonly servers: Readonly<Record<string, string>>;
}

/** Keys of the Secret. `tls.crt`, `tls.key` and `ca.crt` are those of Kubernetes. */
const keys = {
  leaf: ['tls.crt', 'tls.key'],
  authority: ['ca.crt', 'ca.key'],
  nextAuthority: ['next-ca.crt', 'next-ca.key'],
  bundle: 'ca-bundle.crt',
  servers: 'servers.json',
} as const;

/** The state in a Secret. Undefined: it is broken, no leaf can be issued any more. Pure; never throws. */
export function readState(secret: KubeObject): CertificateState | undefined {
  const read = (reader: typeof readPair, [certificate, key]: readonly [string, string]) =>
    reader(textOf(secret, certificate), textOf(secret, key));
  const authority = read(readAuthority, keys.authority);
  const nextAuthority = read(readAuthority, keys.nextAuthority);
  const bundle = bundleOf(secret);
  const known = [authority, nextAuthority].filter((each) => each !== undefined);
  const isTrusted = known.every(({ fingerprint }) =>
    bundle.some((each) => each.fingerprint === fingerprint),
  );
  if (known.length === 0 || !isTrusted) return undefined;
  const leaf = read(readPair, keys.leaf);
  const issuer = leaf && issuerOf(leaf, bundle);
  return {
    ...(authority && { authority }),
    ...(nextAuthority && { nextAuthority }),
    ...(leaf && { leaf: { ...leaf, ...(issuer !== undefined && { issuer }) } }),
    bundle,
    servers: serversOf(secret),
  };
}

/** The certificates that clients trust, also those of a Secret that is broken otherwise. */
export function bundleOf(secret: KubeObject): readonly Certificate[] {
  return readCertificates(textOf(secret, keys.bundle));
}

/** `caBundle` of the webhook as PEM; one or two certificates. Undefined: there is none that could be used. */
export function caBundleOf(secret: KubeObject): string | undefined {
  const state = readState(secret);
  return state && pemOf(state.bundle);
}

/** `data` of the Secret. */
export function dataOf(state: CertificateState): Readonly<Record<string, string>> {
  const { authority, nextAuthority, leaf, bundle, servers } = state;
  const texts = {
    ...pairData(keys.authority, authority),
    ...pairData(keys.nextAuthority, nextAuthority),
    ...pairData(keys.leaf, leaf),
    [keys.bundle]: pemOf(bundle),
    ...(Object.keys(servers).length > 0 && { [keys.servers]: JSON.stringify(servers) }),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, encodeBase64(String(text))]),
  );
}

function pairData(
  [certificate, key]: readonly [string, string],
  pair: KeyedCertificate | undefined,
): Readonly<Record<string, string>> {
  return pair === undefined ? {} : { [certificate]: pair.pem, [key]: pair.key };
}

function pemOf(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('');
}

function textOf({ data }: KubeObject, key: string): string {
  const value = isJsonObject(data) ? data[key] : undefined;
  return typeof value === 'string' ? (decodeBase64(value) ?? '') : '';
}

function serversOf(secret: KubeObject): Readonly<Record<string, string>> {
  const json = parsed(textOf(secret, keys.servers));
  if (!isJsonObject(json)) return {};
  return Object.fromEntries(
    Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
