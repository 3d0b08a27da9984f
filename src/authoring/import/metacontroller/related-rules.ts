import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { HookAnswer } from './hook-answers.ts';

/** One entry of `relatedResources` in an answer of a customize hook. */
export interface RecordedRule {
  readonly rule: JsonObject;
  readonly answer: HookAnswer;
  /** `relatedResources[0]` */
  readonly name: string;
  readonly pointer: string;
  readonly names: readonly Json[];
}

/** The rules of all answers; rules that correspond to each other are in one group. */
export function relatedRules(
  answers: readonly HookAnswer[],
): readonly (readonly [RecordedRule, ...RecordedRule[]])[] {
  const all = answers.map(rulesOf);
  const groups = new Map<string, [RecordedRule, ...RecordedRule[]]>();
  for (const rules of all) {
    const counts = new Map<string, number>();
    for (const each of rules) {
      // A rule that every answer has is one, whatever its position is.
      const shared = all.every((others) => others.some(({ rule }) => deepEqual(rule, each.rule)));
      const what = shared ? JSON.stringify(each.rule) : shapeOf(each);
      const count = counts.get(what) ?? 0;
      counts.set(what, count + 1);
      const key = `${count} ${what}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [each]);
      else group.push(each);
    }
  }
  return [...groups.values()];
}

/** The kind of a rule, and how it selects. */
function shapeOf({ rule, names }: RecordedRule): string {
  const how = names.length > 0 ? 'names' : isJsonObject(rule.labelSelector) ? 'labels' : 'all';
  return `${String(rule.apiVersion)} ${String(rule.resource)} ${how}`;
}

function rulesOf(answer: HookAnswer): readonly RecordedRule[] {
  const rules = answer.response.relatedResources;
  return (Array.isArray(rules) ? rules : []).flatMap((rule: Json, index) =>
    isJsonObject(rule)
      ? [
          {
            rule,
            answer,
            name: `relatedResources[${index}]`,
            pointer: pointerTo(`${answer.pointer}/relatedResources`, index),
            names: Array.isArray(rule.names) ? rule.names : [],
          },
        ]
      : [],
  );
}
