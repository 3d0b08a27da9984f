import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { ConversionRules } from './conversion-rules.ts';
import { parseConversionRules } from './parse-rules.ts';

/** Rules by their digest, as a CRD stores them. */
export interface StoredRules {
  /** The digest of the current rules. */
  readonly current: string;
  /** The current and the previous rules: the current ones first, then the newest. */
  readonly byDigest: ReadonlyMap<string, ConversionRules>;
}

/** A short digest of rules: 16 hexadecimal digits, the same for rules that differ in the order of their keys only. Pure. */
export function digestOf(rules: ConversionRules): string {
  return sha256Hex(canonicalJson(rules)).slice(0, 16);
}

/** The value of the annotation {@link conversionsAnnotation}: the current rules, and previous ones that may still be asked for, newest first. Pure. */
export function writeRules(
  current: ConversionRules,
  previous: readonly ConversionRules[] = [],
): string {
  const all = new Map([current, ...previous].map((rules) => [digestOf(rules), rules]));
  const [digest, ...others] = all.keys();
  return canonicalJson({
    current: digest,
    ...(others.length > 0 && { previous: others }),
    rules: Object.fromEntries(all),
  });
}

/**
 * Reads the annotation. Previous rules that this version cannot parse are left out. Undefined: there are no current rules in it, or others
 * than their digest says. Pure; never throws.
 */
export function readRules(text: string): StoredRules | undefined {
  const json = parsed(text);
  if (!isJsonObject(json) || typeof json.current !== 'string' || !isJsonObject(json.rules))
    return undefined;
  const { current, previous } = json;
  const order = [current, ...(Array.isArray(previous) ? previous.map(String) : [])];
  const byDigest = new Map<string, ConversionRules>();
  for (const digest of new Set([...order, ...Object.keys(json.rules)])) {
    const { rules } = parseConversionRules(json.rules[digest]);
    if (rules !== undefined && digestOf(rules) === digest) byDigest.set(digest, rules);
  }
  return byDigest.has(current) ? { current, byDigest } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
