import type { Certificate, IssuedPair, LeafCertificate, Lifetime } from './certificate.ts';
import { type KeyedCertificate, readPair } from './certificate.ts';
import type { CertificateState } from './certificate-state.ts';
import {
  type CertificateFacts,
  type CertificateTimes,
  type ChangeStep,
  type CreateStep,
  signerOf,
} from './next-step.ts';

/** Issues certificates. */
export interface CertificateIssuer {
  issueAuthority(lifetime: Lifetime): Promise<IssuedPair>;
  issueLeaf(
    authority: IssuedPair,
    names: readonly string[],
    lifetime: Lifetime,
  ): Promise<IssuedPair>;
}

/** The issuer with real certificates. Its library is loaded with the first of them. */
export const x509Issuer: CertificateIssuer = {
  issueAuthority: async (...given) => (await import('./x509.ts')).issueAuthority(...given),
  issueLeaf: async (...given) => (await import('./x509.ts')).issueLeaf(...given),
};

/** Old authorities in a bundle beside the new one: a Secret may be lost again before the last change has ended. */
const maxTrusted = 3;

/** The state after a step that is written; undefined for the state before it. */
export async function takeStep(
  step: CreateStep | ChangeStep,
  state: CertificateState | undefined,
  facts: CertificateFacts,
  issuer: CertificateIssuer,
): Promise<CertificateState | undefined> {
  const issue = new Issue(issuer, facts);
  if (step.kind === 'create') {
    const authority = await issue.authority();
    const leaf = await issue.leaf(authority, facts.names);
    const trusted = step.trusted.slice(0, maxTrusted);
    const bundle = [publicPart(authority), ...trusted];
    // Nothing trusts another one: this one can be used at once.
    const place = trusted.length === 0 ? { authority } : { nextAuthority: authority };
    return { ...place, leaf, bundle, servers: {} };
  }
  return state && changed(step, state, facts, issue);
}

async function changed(
  step: ChangeStep,
  state: CertificateState,
  facts: CertificateFacts,
  issue: Issue,
): Promise<CertificateState | undefined> {
  switch (step.kind) {
    case 'renew-leaf': {
      const signer = signerOf(state, facts.nowMs);
      return signer && { ...state, leaf: await issue.leaf(signer, step.names) };
    }
    case 'begin': {
      const nextAuthority = await issue.authority();
      return { ...state, nextAuthority, bundle: [publicPart(nextAuthority), ...state.bundle] };
    }
    case 'report': {
      const { served, server } = facts;
      const servers = { ...state.servers, ...(served && { [server]: served.fingerprint }) };
      return { ...state, servers };
    }
    case 'switch': {
      const { nextAuthority, authority: _, ...rest } = state;
      if (nextAuthority === undefined) return undefined;
      const leaf = await issue.leaf(nextAuthority, step.names);
      return { ...rest, authority: nextAuthority, leaf };
    }
    case 'end': {
      const { authority } = state;
      return authority && { ...state, bundle: [publicPart(authority)], servers: {} };
    }
  }
}

class Issue {
  readonly #issuer: CertificateIssuer;
  readonly #nowMs: number;
  readonly #times: CertificateTimes;

  constructor(issuer: CertificateIssuer, { nowMs, times }: CertificateFacts) {
    this.#issuer = issuer;
    this.#nowMs = nowMs;
    this.#times = times;
  }

  async authority(): Promise<KeyedCertificate> {
    return read(await this.#issuer.issueAuthority(this.#lifetime(this.#times.authorityLifeMs)));
  }

  async leaf(authority: KeyedCertificate, names: readonly string[]): Promise<LeafCertificate> {
    const pair = { certificate: authority.pem, key: authority.key };
    const lifetime = this.#lifetime(this.#times.leafLifeMs, authority.untilMs);
    const leaf = await this.#issuer.issueLeaf(pair, names, lifetime);
    return { ...read(leaf), issuer: authority.fingerprint };
  }

  #lifetime(lifeMs: number, latestMs = Number.POSITIVE_INFINITY): Lifetime {
    const fromMs = this.#nowMs - this.#times.backdatedMs;
    return { fromMs, untilMs: Math.min(this.#nowMs + lifeMs, latestMs) };
  }
}

function publicPart({ key: _, ...certificate }: KeyedCertificate): Certificate {
  return certificate;
}

function read({ certificate, key }: IssuedPair): KeyedCertificate {
  const pair = readPair(certificate, key);
  if (pair === undefined) throw new Error('A certificate that was just issued cannot be read');
  return pair;
}
