/** The only file that imports `@peculiar/x509`. It is loaded when a certificate is issued: a process that only serves one needs none of it. */
import 'reflect-metadata/lite'; // its container of algorithms needs the metadata of decorators
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { encodeBase64Bytes } from '#util/base64.ts';
import type { IssuedPair, Lifetime } from './certificate.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const caName = 'CN=homeostat-conversion-ca';
/** The names that matter are the alternative ones. */
const leafName = 'CN=homeostat-conversion';

/** A certificate authority that signs only certificates of servers, and its key. */
export async function issueAuthority(lifetime: Lifetime): Promise<IssuedPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: caName,
    keys,
    signingAlgorithm: algorithm,
    ...datesOf(lifetime),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pairOf(certificate, keys.privateKey);
}

/** A certificate of a server with these DNS names and IP addresses, and its key. @throws Error for an authority that is broken */
export async function issueLeaf(
  authority: IssuedPair,
  names: readonly string[],
  lifetime: Lifetime,
): Promise<IssuedPair> {
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await importKey(authority.key);
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(
      names.map((value) => ({
        type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
        value,
      })),
    ),
    await SubjectKeyIdentifierExtension.create(keys.publicKey),
    await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
  ];
  const certificate = await X509CertificateGenerator.create({
    subject: leafName,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    ...datesOf(lifetime),
    extensions,
  });
  return pairOf(certificate, keys.privateKey);
}

function datesOf({ fromMs, untilMs }: Lifetime) {
  return { notBefore: new Date(fromMs), notAfter: new Date(untilMs) };
}

async function pairOf(certificate: X509Certificate, key: CryptoKey): Promise<IssuedPair> {
  const bytes = new Uint8Array(await crypto.subtle.exportKey('pkcs8', key));
  return { certificate: `${certificate.toString('pem').trim()}\n`, key: pemOfKey(bytes) };
}

function pemOfKey(bytes: Uint8Array): string {
  const lines = encodeBase64Bytes(bytes).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}

function importKey(pem: string): Promise<CryptoKey> {
  const body = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  return crypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
}
