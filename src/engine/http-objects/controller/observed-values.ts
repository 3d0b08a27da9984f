import type { WorkBudget } from '#compile/language/index.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { ObjectPlan } from '../core/plan.ts';
import type { Settled } from '../core/view.ts';
import { type CodeScope, evaluateCode } from '../spec/code-field.ts';
import { maskedJson } from './secret-mask.ts';

/** What an observation says, for the status. */
export interface ObservedValues {
  readonly values?: JsonObject;
  readonly isReady?: boolean;
  /** The code of the author has failed. */
  readonly failure?: Settled;
}

/** Evaluates `values` and `ready`. `mask`: removes values of Secrets from a text. */
export async function observedValues(
  { spec }: ObjectPlan,
  scope: CodeScope,
  { mask, budget }: { readonly mask: (text: string) => string; readonly budget: WorkBudget },
): Promise<ObservedValues> {
  try {
    const values: Record<string, Json> = {};
    for (const [name, code] of Object.entries(spec.values)) {
      const value = await evaluateCode(code, scope, budget);
      if (value !== undefined) values[name] = maskedJson(value, mask);
    }
    const isReady = spec.ready && (await evaluateCode(spec.ready, scope, budget)) === true;
    return {
      ...(Object.keys(spec.values).length > 0 && { values }),
      ...(isReady !== undefined && { isReady }),
    };
  } catch (error) {
    const message = mask(error instanceof Error ? error.message : String(error));
    const synced = { status: 'False', reason: 'CodeFailed', message } as const;
    return { failure: { synced, isObserved: true, next: { kind: 'look' } } };
  }
}
