import type { OperatorPlan } from '#compile';
import type { Expectation } from '#definition';
import { masked, mayHoldSecret } from '#plan';
import type { KubeObject } from '#util/kube-object.ts';
import type { Mismatch } from './compare-subset.ts';
import type { Failure, FailureSubject } from './expectations.ts';

/**
 * A failure of a test on a real cluster without values that may come from a Secret: results of CI systems are read by many. Values that the
 * author wrote into the test stay. Pure.
 * @param plans the definitions that run in the test
 */
export function withoutSecretValues(
  failure: Failure,
  { expectation, object }: FailureSubject,
  plans: readonly OperatorPlan[],
): Failure {
  if (readsSecret(expectation, plans)) return hidden(failure, { ...everything, expected: masked });
  if (object === undefined) return failure;
  if (plans.some((plan) => mayHoldSecret(plan, object))) return hidden(failure, everything);
  return isSecretObject(object) ? hidden(failure, { isHidden: isSecretField }) : failure;
}

interface Hiding {
  readonly isHidden: (path: string) => boolean;
  /** In place of expected values. @default undefined: they are printed */
  readonly expected?: string;
}

const everything: Hiding = { isHidden: () => true };

/** Without mismatches the message itself may quote a value. */
function hidden(failure: Failure, { isHidden, expected }: Hiding): Failure {
  const { message, mismatches } = failure;
  if (mismatches.length === 0) return { ...failure, message: withoutQuotes(message, isHidden) };
  return {
    ...failure,
    mismatches: mismatches.map((mismatch): Mismatch => {
      if (!isHidden(mismatch.path)) return mismatch;
      return {
        ...mismatch,
        ...(expected !== undefined && { expected }),
        ...(mismatch.found !== undefined && { found: masked }),
      };
    }),
  };
}

/** `Thing/a has no such Event`, without those that it has. */
function withoutQuotes(message: string, isHidden: Hiding['isHidden']): string {
  if (!isHidden('')) return message;
  const [statement = ''] =
    /^[^;:]+ (?:does not exist|exists|has no such Event)/.exec(message) ?? [];
  return statement === '' ? masked : statement;
}

/** May an expression of the test have read a value of a Secret, from one or from an object of a definition that reads one? */
function readsSecret(expectation: Expectation, plans: readonly OperatorPlan[]): boolean {
  const text = JSON.stringify(expectation);
  if (!text.includes('${')) return false;
  const parts = plans.flatMap((plan) => [plan, ...plan.children, ...plan.reads]);
  return /\bsecret/i.test(text) || parts.some(({ secrecy }) => secrecy !== 'none');
}

function isSecretObject({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

/** Also the copy of the manifest that kubectl stores, and maps that contain one of both. */
function isSecretField(path: string): boolean {
  return /^(?:$|data\b|stringData\b|metadata$|metadata\.annotations\b)/.test(path);
}
