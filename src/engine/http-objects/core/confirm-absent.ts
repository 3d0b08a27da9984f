import { settledFailure } from './settle.ts';
import { failureIn, type Step, type View } from './view.ts';

/** An answer that the object does not exist counts only if the API works. Undefined: it counts. */
export function confirmAbsent({ endpoint, seen }: View): Step | undefined {
  const path = endpoint?.checkPath;
  if (path === undefined) return undefined;
  const failure = failureIn(seen, 'check');
  if (failure !== undefined)
    return settledFailure({ ...failure, reason: 'CheckFailed', class: 'soon' });
  if (seen.answers.check?.kind === 'absent')
    return settledFailure({
      class: 'later',
      reason: 'CheckFailed',
      message: 'The check of the endpoint answered that it does not exist',
      mayHaveArrived: true,
    });
  if (seen.answers.check !== undefined) return undefined;
  return { kind: 'send', role: 'check', request: { method: 'GET', path } };
}
