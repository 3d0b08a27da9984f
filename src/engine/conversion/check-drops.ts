import { areCompatible, nearestPath, type RuleCheck } from './check-rule.ts';
import type { ConversionProblem } from './conversion-rules.ts';
import type { Pairing, Path, Side } from './pairing.ts';
import { parseRulePath, rulePathText } from './rule-path.ts';

/** Reports a problem of the path at this index. */
export type ReportDrop = (
  index: number,
  message: string,
  hint: string,
  severity: ConversionProblem['severity'],
) => void;

const sides = ['here', 'there'] as const;

/** Checks the paths that are given up: they exist, have no rule, and their values could not be converted. */
export function checkDrops(drop: readonly string[], check: RuleCheck, report: ReportDrop): void {
  for (const [index, text] of drop.entries()) {
    const found = problemOf(text, drop.indexOf(text) < index, check);
    if (found !== undefined)
      report(index, found.message, found.hint, found.isWarning ? 'warning' : 'error');
  }
}

interface DropProblem {
  readonly message: string;
  readonly hint: string;
  readonly isWarning?: boolean;
}

function problemOf(
  text: string,
  isRepeated: boolean,
  { pairing, names }: RuleCheck,
): DropProblem | undefined {
  const path = parseRulePath(text) ?? [];
  if (isRepeated) return { message: `"${text}" is dropped twice`, hint: 'Remove one of them' };
  const where = sides.filter((side) => pairing.nodeAt(side, path) !== undefined);
  if (where.length === 0) return unknownPath(text, path, pairing, names);
  const rule = pairing.rules.find((each) => sides.some((side) => isBelow(each[side], path)));
  if (rule !== undefined) {
    const own = sides.map((side) => rulePathText(rule[side])).join(' and ');
    return {
      message: `"${text}" is dropped, and rule ${rule.index + 1} is for ${own}`,
      hint: 'Remove the rule, or the path from "drop"',
    };
  }
  return where.length === 2 ? copyable(text, path, pairing, names) : undefined;
}

function unknownPath(
  text: string,
  path: Path,
  pairing: Pairing,
  names: Readonly<Record<Side, string>>,
): DropProblem {
  const nearest = sides.map((side) => nearestPath(path, side, pairing)).find((each) => each);
  return {
    message: `Neither "${names.here}" nor "${names.there}" has a field "${text}"`,
    hint: nearest === undefined ? 'Remove it from "drop"' : `Did you mean "${nearest}"?`,
  };
}

/** A field that both versions have: without `drop` its values would be copied. */
function copyable(
  text: string,
  path: Path,
  pairing: Pairing,
  names: Readonly<Record<Side, string>>,
): DropProblem | undefined {
  const [here, there] = [pairing.nodeAt('here', path), pairing.nodeAt('there', path)];
  if (here === undefined || there === undefined || !areCompatible(here, there)) return undefined;
  const both = `"${names.here}" and "${names.there}" both have "${text}"`;
  if (text === 'spec')
    return {
      message: `${both}: without it, no field of a resource is converted`,
      hint: 'Drop single fields, such as spec.legacy',
    };
  return {
    message: `${both}: its values are lost, although they could be copied`,
    hint: 'Remove it from "drop", unless its values mean something else in the other version',
    isWarning: true,
  };
}

function isBelow(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}
