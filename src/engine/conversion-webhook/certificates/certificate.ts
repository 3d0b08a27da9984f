import { createPrivateKey, X509Certificate } from 'node:crypto';

/** A certificate and its key as PEM. */
export interface IssuedPair {
  readonly certificate: string;
  readonly key: string;
}

/** From when until when a certificate is valid, in ms since the epoch. */
export interface Lifetime {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What is known of a certificate. */
export interface Certificate {
  readonly pem: string;
  /** SHA-256 of the whole certificate, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Its DNS names and IP addresses. */
  readonly names: readonly string[];
}

/** A certificate with the key that belongs to it. */
export interface KeyedCertificate extends Certificate {
  readonly key: string;
}

/** A certificate of a server. */
export interface LeafCertificate extends KeyedCertificate {
  /** Fingerprint of the authority that issued it. Undefined: none of those that are known. */
  readonly issuer?: string;
}

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** All certificates of a PEM text. What cannot be read is left out. Pure; never throws. */
export function readCertificates(pem: string): readonly Certificate[] {
  return (pem.match(certificatePem) ?? []).flatMap((each) => {
    const parsed = parse(each);
    return parsed === undefined ? [] : [describe(parsed, `${each}\n`)];
  });
}

/** A certificate with its key. Undefined: one of them is missing or broken, or they do not belong together. Pure; never throws. */
export function readPair(certificate: string, key: string): KeyedCertificate | undefined {
  const [first] = certificate.match(certificatePem) ?? [];
  const parsed = first === undefined ? undefined : parse(first);
  if (parsed === undefined || !belongs(parsed, key)) return undefined;
  // A file of cert-manager also has the certificates of intermediate authorities, which the server sends.
  return { ...describe(parsed, certificate), key };
}

/** An authority with which leaves can be issued. Undefined: it is not one of ours. Pure; never throws. */
export function readAuthority(certificate: string, key: string): KeyedCertificate | undefined {
  const pair = readPair(certificate, key);
  if (pair === undefined || parse(pair.pem)?.ca !== true) return undefined;
  const { asymmetricKeyDetails } = createPrivateKey(key);
  return asymmetricKeyDetails?.namedCurve === 'prime256v1' ? pair : undefined;
}

/** Which of the authorities issued a certificate. */
export function issuerOf(
  leaf: Certificate,
  authorities: readonly Certificate[],
): string | undefined {
  const parsed = parse(leaf.pem);
  if (parsed === undefined) return undefined;
  return authorities.find(({ pem }) => {
    const authority = parse(pem);
    return authority !== undefined && isIssuedBy(parsed, authority);
  })?.fingerprint;
}

function isIssuedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  try {
    return leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
  } catch {
    // A key of a kind that cannot verify.
    return false;
  }
}

function belongs(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function describe(certificate: X509Certificate, pem: string): Certificate {
  return {
    pem,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    fromMs: certificate.validFromDate.getTime(),
    untilMs: certificate.validToDate.getTime(),
    names: namesOf(certificate.subjectAltName ?? ''),
  };
}

/** From `DNS:a.example, IP Address:127.0.0.1`. */
function namesOf(text: string): readonly string[] {
  return text
    .split(', ')
    .map((each) => each.replace(/^(?:DNS|IP Address):/, ''))
    .filter((each) => each !== '');
}
