import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, itemsAt, mapAt, quotedList, valueAt } from '../tree.ts';
import { isDnsLabel1035, type Rule } from './rule.ts';

const conversion = '/spec/crd/conversion';
const webhook = `${conversion}/webhook`;
const config = `${webhook}/clientConfig`;

/** A conversion webhook is what the API server accepts: one address, a version of its requests, certificates in base64. */
export const checkCrdConversion: Rule = function* (document) {
  const strategy = valueAt(document, `${conversion}/strategy`);
  const isGiven = valueAt(document, webhook) !== undefined;
  if (strategy === 'Webhook' && !isGiven) {
    yield {
      code: 'missing-field',
      path: webhook,
      at: 'parent-key',
      message: 'Missing field "webhook"',
      hint: 'The strategy "Webhook" needs "clientConfig" and "conversionReviewVersions"',
    };
  }
  if (strategy === 'None' && isGiven) {
    yield {
      code: 'invalid-crd',
      path: webhook,
      at: 'key',
      message: 'Expected no "webhook" beside "strategy: None"',
      hint: 'Write "strategy: Webhook", or remove "webhook"',
    };
  }
  if (typeof valueAt(document, config) === 'object') yield* checkAddress(document);
  yield* checkReviewVersions(document);
  yield* checkBundle(document);
};

const checkAddress: Rule = function* (document) {
  const { url, service } = mapAt(document, config);
  if ((url === undefined) === (service === undefined)) {
    const found = url === undefined ? 'none' : '"2"';
    yield {
      code: 'invalid-crd',
      path: config,
      at: 'key',
      message: `Expected exactly one of "url" and "service", found ${found}`,
    };
    return;
  }
  if (typeof url === 'string') yield* checkUrl(url);
  const path = fieldOf(service, 'path');
  if (typeof path !== 'string' || /^(?:\/|(?:\/[a-z0-9.-]+)+\/?)?$/.test(path)) return;
  yield {
    code: 'invalid-crd',
    path: `${config}/service/path`,
    message: `Expected a path such as "/convert", of lower-case letters, digits, "-" and ".", found ${describeFound(path)}`,
  };
};

function* checkUrl(text: string): Iterable<Finding> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const extra = url && `${url.username}${url.password}${url.search}${url.hash}`;
  if (url?.protocol === 'https:' && extra === '') return;
  yield {
    code: 'invalid-crd',
    path: `${config}/url`,
    message: `Expected a URL "https://host[:port][/path]", found ${describeFound(text)}`,
    hint:
      url?.protocol === 'http:'
        ? 'The API server calls webhooks with TLS only'
        : 'Without user, query and fragment',
  };
}

/** Versions that API servers send. */
const sent = ['v1', 'v1beta1'];

const checkReviewVersions: Rule = function* (document) {
  const versions = itemsAt(document, `${webhook}/conversionReviewVersions`);
  const known = new Set<unknown>();
  for (const { value, path } of versions) {
    if (typeof value !== 'string') continue;
    if (!isDnsLabel1035(value)) {
      const message = `Expected a version such as "v1", found ${describeFound(value)}`;
      yield { code: 'invalid-name', path, message };
    } else if (known.has(value)) {
      yield { code: 'duplicate-id', path, message: `Version "${value}" is listed twice` };
    }
    known.add(value);
  }
  if (versions.length === 0 || sent.some((version) => known.has(version))) return;
  yield {
    code: 'invalid-crd',
    path: `${webhook}/conversionReviewVersions`,
    message: `Expected ${quotedList(sent)} among the versions`,
    hint: 'API servers send no other version of ConversionReview',
  };
};

/** Annotations with which cert-manager writes the certificates. */
const injections = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
];

const checkBundle: Rule = function* (document) {
  const bundle = valueAt(document, `${config}/caBundle`);
  if (typeof bundle !== 'string') return;
  const path = `${config}/caBundle`;
  const problem = bundleProblem(bundle);
  if (problem !== undefined) yield { code: 'invalid-crd', path, ...problem };
  const annotations = mapAt(document, '/spec/crd/metadata/annotations');
  const injection = injections.find((name) => annotations[name] !== undefined);
  if (injection === undefined) return;
  yield {
    severity: 'warning',
    code: 'invalid-crd',
    path,
    at: 'key',
    message: `The annotation "${injection}" has cert-manager write this field, too`,
    hint: 'Remove "caBundle" or the annotation: Homeostat and cert-manager would overwrite each other',
  };
};

function bundleProblem(text: string): Pick<Finding, 'message' | 'hint'> | undefined {
  const message = 'Expected certificates in PEM, encoded in base64';
  if (text.includes('-----BEGIN'))
    return { message, hint: 'Encode the file: base64 --wrap=0 ca.crt' };
  const bodies = Array.from(decoded(text).matchAll(certificate), ([, body = '']) => body);
  if (bodies.length === 0) return { message };
  const damaged = bodies.findIndex((body) => !isWholeDer(decoded(body)));
  if (damaged === -1) return undefined;
  // Without it, the API server never serves the kind, and names no reason.
  return { message: `${message}; certificate ${damaged + 1} is incomplete` };
}

const certificate = /-----BEGIN CERTIFICATE-----\r?\n([^-]*)-----END CERTIFICATE-----/g;

/** Is this one sequence in DER (X.690, 8.1.3), as each certificate is? Each character is a byte. */
function isWholeDer(bytes: string): boolean {
  if (bytes.charCodeAt(0) !== 0x30) return false;
  const first = bytes.charCodeAt(1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  let length = lengthBytes === 0 ? first : 0;
  for (let at = 0; at < lengthBytes; at++) length = length * 256 + bytes.charCodeAt(2 + at);
  return bytes.length === 2 + lengthBytes + length;
}

/** What base64 encodes, a byte for each character; empty if it is none. */
function decoded(text: string): string {
  try {
    return atob(text);
  } catch {
    // Not base64: the caller reports it.
    return '';
  }
}
