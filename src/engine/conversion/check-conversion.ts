import { nearestName } from '#util/did-you-mean.ts';
import type { JsonObject } from '#util/json.ts';
import { checkCoverage } from './check-coverage.ts';
import { checkDrops } from './check-drops.ts';
import { checkOverlaps, checkRule, type ReportRule } from './check-rule.ts';
import type { ConversionProblem, ConversionRules, VersionRules } from './conversion-rules.ts';
import { Pairing } from './pairing.ts';
import { type ObjectNode, rootNode } from './schema-node.ts';

export interface CheckOptions {
  readonly rules: ConversionRules;
  /** The `openAPIV3Schema` of each version of the kind. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
}

/**
 * What is wrong with rules for these schemas. Errors: paths, types and values that a rule cannot carry, rules for the same place, and required
 * fields without a value. Warnings: fields that are kept, but lost by some edits, or that look like one field with two names. Pure; never
 * throws.
 */
export function checkConversion({ rules, schemas }: CheckOptions): readonly ConversionProblem[] {
  const problems: ConversionProblem[] = [];
  const report: Report = (path, message, hint, severity = 'error', at) => {
    problems.push({
      ...{ path, message, severity },
      ...(hint !== undefined && { hint }),
      ...(at !== undefined && { at }),
    });
  };
  const hub = schemaOf(rules.hub, '/hub', schemas, report);
  const listed = rules.versions.map(({ version }) => version);
  // An entry for a version that does not exist is probably that of one without an entry.
  const hasUnknown = listed.some((each) => !schemas.has(each));
  const unlisted = [...schemas.keys()].filter(
    (each) => !hasUnknown && each !== rules.hub && !listed.includes(each),
  );
  for (const [index, version] of rules.versions.entries()) {
    const at = `/versions/${index}`;
    const own = schemaOf(version.version, `${at}/version`, schemas, report);
    if (hub !== undefined && own !== undefined)
      checkVersion(version, { at, own, hub, rules, report });
  }
  for (const version of unlisted) {
    const own = schemaOf(version, '/versions', schemas, report);
    const plain = { version, fields: [], drop: [] };
    if (hub !== undefined && own !== undefined)
      checkVersion(plain, { at: '/versions', own, hub, rules, report });
  }
  return problems;
}

type Report = (
  path: string,
  message: string,
  hint?: string,
  severity?: ConversionProblem['severity'],
  at?: 'key',
) => void;

interface VersionCheck {
  readonly at: string;
  readonly own: ObjectNode;
  readonly hub: ObjectNode;
  readonly rules: ConversionRules;
  readonly report: Report;
}

function checkVersion(version: VersionRules, { at, own, hub, rules, report }: VersionCheck): void {
  const pairing = new Pairing(version, own, hub);
  const names = { here: version.version, there: rules.hub };
  let hasErrors = false;
  const reportRule =
    (index: number): ReportRule =>
    (field, message, hint, place) => {
      hasErrors = true;
      report(`${at}/fields/${index}/${field}`, message, hint, 'error', place);
    };
  for (const rule of pairing.rules) checkRule(rule, { pairing, names }, reportRule(rule.index));
  checkOverlaps(pairing.rules, (rule, field, message, hint) =>
    reportRule(rule.index)(field, message, hint),
  );
  checkDrops(version.drop, { pairing, names }, (index, message, hint, severity) =>
    report(`${at}/drop/${index}`, message, hint, severity),
  );
  // A rule that is wrong leaves fields without a place: one error each is enough.
  if (hasErrors) return;
  checkCoverage({
    pairing,
    names,
    report: (message, severity, hint) => report(at, message, hint, severity),
  });
}

function schemaOf(
  version: string,
  at: string,
  schemas: ReadonlyMap<string, JsonObject>,
  report: Report,
): ObjectNode | undefined {
  const schema = schemas.get(version);
  if (schema === undefined) {
    const names = [...schemas.keys()];
    const nearest = nearestName(version, names);
    const hint =
      nearest === undefined ? `Versions are ${names.join(', ')}` : `Did you mean "${nearest}"?`;
    report(at, `Version "${version}" does not exist`, names.length === 0 ? undefined : hint);
  }
  return schema && rootNode(schema);
}
