import type { Certificate, KeyedCertificate, LeafCertificate } from './certificate.ts';
import type { CertificateState } from './certificate-state.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Durations, in ms. */
export interface CertificateTimes {
  readonly authorityLifeMs: number;
  readonly leafLifeMs: number;
  /** A certificate is valid from this long before it is issued: clocks of API servers may be behind. */
  readonly backdatedMs: number;
  /** How long all bundles have the new authority before a leaf of it is served. API servers follow a change of a CRD within a second. */
  readonly spreadMs: number;
  /** How long the new leaf is served at least before the old authority is removed. */
  readonly loadMs: number;
  /** How long a server that has not loaded it is waited for: it may have been killed. */
  readonly lostServerMs: number;
}

export const defaultTimes: CertificateTimes = {
  authorityLifeMs: 5 * 365 * dayMs,
  leafLifeMs: 90 * dayMs,
  backdatedMs: 60 * minuteMs,
  spreadMs: 10_000,
  loadMs: 10 * minuteMs,
  lostServerMs: dayMs,
};

/** What a server sees beside the Secret. */
export interface CertificateFacts {
  readonly nowMs: number;
  readonly times: CertificateTimes;
  /** The name of this server. */
  readonly server: string;
  /** The DNS names and IP addresses by which the API server reaches it. */
  readonly names: readonly string[];
  /** What it serves. Undefined: nothing yet. */
  readonly served: LeafCertificate | undefined;
  /** Authorities that are trusted: those in the bundles of CRDs, and those that this server read before. */
  readonly trusted: readonly Certificate[];
  /** Since when, by its own clock, this server has seen the state in its present step. In ms. */
  readonly stepForMs: number;
  /** How long every CRD has had the next authority, as far as this server has seen. In ms; undefined: not every CRD has it. */
  readonly spreadForMs: number | undefined;
}

/** What a server writes into the Secret next. Any server may do it: each write is a condition on the version that was read. */
export type CertificateStep =
  | CreateStep
  | ChangeStep
  /** Nothing until this time has passed, in ms, or something changes. */
  | { readonly kind: 'wait'; readonly forMs: number };

/** A Secret is created, or a broken one replaced. `trusted` stays in the bundle until no leaf of it is served. */
export interface CreateStep {
  readonly kind: 'create';
  readonly trusted: readonly Certificate[];
}

/** A Secret is changed. */
export type ChangeStep =
  | { readonly kind: 'renew-leaf'; readonly names: readonly string[] }
  /** There is a new authority, for all bundles. */
  | { readonly kind: 'begin' }
  /** The Secret names what this server serves. */
  | { readonly kind: 'report' }
  /** The new authority is in all bundles: a leaf of it is served. */
  | { readonly kind: 'switch'; readonly names: readonly string[] }
  /** No server serves a leaf of the old authority: it leaves the bundles. */
  | { readonly kind: 'end' };

/** A server looks at least this often. */
const longestWaitMs = 60 * minuteMs;
/** Servers with different names share a leaf: while the name of the Service changes, it has both. */
const maxNames = 20;

/** Decides what is written next. `state` undefined: there is no Secret, or it is broken. Pure. */
export function nextStep(
  state: CertificateState | undefined,
  facts: CertificateFacts,
): CertificateStep {
  const { nowMs, times } = facts;
  const trusted = facts.trusted.filter(({ untilMs }) => untilMs > nowMs);
  if (state === undefined || signerOf(state, nowMs) === undefined)
    return { kind: 'create', trusted };
  if (needsLeaf(state, facts)) return { kind: 'renew-leaf', names: leafNames(state, facts) };
  if (isChanging(state) && facts.served !== undefined)
    if (state.servers[facts.server] !== facts.served.fingerprint) return { kind: 'report' };
  if (state.nextAuthority !== undefined) return whileSpreading(state, facts);
  if (state.bundle.length > 1) return whileLoading(state, facts);
  const untilRotationMs = rotationAtMs(signerOf(state, nowMs), times) - nowMs;
  if (untilRotationMs <= 0) return { kind: 'begin' };
  return waitFor(Math.min(untilRotationMs, renewalAtMs(state.leaf, times) - nowMs));
}

/** Whether the authority is being changed. */
export function isChanging({ nextAuthority, bundle }: CertificateState): boolean {
  return nextAuthority !== undefined || bundle.length > 1;
}

/** Names a step of the change; equal states of a change have equal names. */
export function stepName({ nextAuthority, bundle }: CertificateState): string {
  if (nextAuthority !== undefined) return `spread ${nextAuthority.fingerprint}`;
  return bundle.length > 1 ? `load ${bundle.map(({ fingerprint }) => fingerprint)}` : 'steady';
}

/** The authority that issues leaves now. Undefined: none can. */
export function signerOf(
  { authority, nextAuthority }: CertificateState,
  nowMs: number,
): KeyedCertificate | undefined {
  const usable = authority !== undefined && authority.untilMs > nowMs ? authority : nextAuthority;
  return usable !== undefined && usable.untilMs > nowMs ? usable : undefined;
}

/**
 * What a server serves: the leaf of the Secret. But after the Secret was lost, that leaf is one which no client trusts yet: a server keeps
 * its own until the new authority is in all bundles. Pure.
 */
export function leafToServe(
  { authority, nextAuthority, leaf, bundle }: CertificateState,
  served: LeafCertificate | undefined,
  nowMs: number,
): LeafCertificate | undefined {
  if (leaf === undefined) return served;
  if (authority !== undefined || nextAuthority === undefined || served === undefined) return leaf;
  const isTrusted = bundle.some(({ fingerprint }) => fingerprint === served.issuer);
  const isOld = served.issuer !== nextAuthority.fingerprint;
  return isTrusted && isOld && served.untilMs > nowMs ? served : leaf;
}

function needsLeaf(state: CertificateState, { nowMs, times, names }: CertificateFacts): boolean {
  const { leaf } = state;
  const signer = signerOf(state, nowMs);
  if (leaf === undefined || signer === undefined) return true;
  if (leaf.issuer !== signer.fingerprint) return true;
  if (names.some((name) => !leaf.names.includes(name))) return true;
  // No leaf outlives its authority.
  return leaf.untilMs < signer.untilMs && renewalAtMs(leaf, times) <= nowMs;
}

/** The names that this server needs first; those of others stay as long as there is room. */
function leafNames({ leaf }: CertificateState, { names }: CertificateFacts): readonly string[] {
  const isComplete = names.every((name) => leaf?.names.includes(name));
  const others = isComplete ? [] : (leaf?.names ?? []);
  return [...new Set([...names, ...others])].slice(0, maxNames);
}

function whileSpreading(state: CertificateState, facts: CertificateFacts): CertificateStep {
  const { spreadForMs, times, nowMs } = facts;
  const { authority } = state;
  // A CRD that is never written must not end all others: a leaf of an authority that ends is of no use to any of them.
  const isUrgent = authority !== undefined && authority.untilMs - times.leafLifeMs / 3 <= nowMs;
  if (spreadForMs === undefined && !isUrgent) return waitFor(longestWaitMs);
  const leftMs = times.spreadMs - (spreadForMs ?? facts.stepForMs);
  return leftMs <= 0 ? { kind: 'switch', names: facts.names } : waitFor(leftMs);
}

function whileLoading({ leaf, servers }: CertificateState, facts: CertificateFacts) {
  const { stepForMs, times } = facts;
  const isLoaded = Object.values(servers).every((fingerprint) => fingerprint === leaf?.fingerprint);
  const leftMs = (isLoaded ? times.loadMs : times.lostServerMs) - stepForMs;
  return leftMs <= 0 ? ({ kind: 'end' } as const) : waitFor(leftMs);
}

function waitFor(forMs: number): CertificateStep {
  return { kind: 'wait', forMs: Math.min(Math.max(forMs, 1), longestWaitMs) };
}

/** At two thirds of the life of a leaf. */
function renewalAtMs(leaf: Certificate | undefined, times: CertificateTimes): number {
  return leaf === undefined ? 0 : leaf.untilMs - times.leafLifeMs / 3;
}

/** At four fifths of the life of an authority. */
function rotationAtMs(authority: Certificate | undefined, times: CertificateTimes): number {
  return authority === undefined ? 0 : authority.untilMs - times.authorityLifeMs / 5;
}
