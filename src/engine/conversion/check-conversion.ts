import type { JsonObject } from '#util/json.ts';
import type { ConversionProblem, ConversionRules } from './conversion-rules.ts';

export interface CheckOptions {
  readonly rules: ConversionRules;
  /** The `openAPIV3Schema` of each version of the kind. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
}

/** What is wrong with rules for these schemas. Pure; never throws. */
export function checkConversion({ rules, schemas }: CheckOptions): readonly ConversionProblem[] {
  const problems: ConversionProblem[] = [];
  const check = (version: string, path: string) => {
    if (schemas.has(version)) return;
    problems.push({ path, message: `Version "${version}" does not exist`, severity: 'error' });
  };
  check(rules.hub, '/hub');
  for (const [index, { version }] of rules.versions.entries())
    check(version, `/versions/${index}/version`);
  return problems;
}
