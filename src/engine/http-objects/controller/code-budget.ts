import { WorkBudget } from '#compile/language/index.ts';
import { controllerName } from '../names.ts';
import type { HttpObjectPorts } from './ports.ts';

/** As for a definition that sets none. */
const limits = { steps: 1_000_000, memoryBytes: 64 * 1024 * 1024, cpuMs: 1_000 };

/** The budget of all code of one reconcile. Namespaces take turns, so that users who write code hold neither the process nor each other. */
export function codeBudget(
  { timeSlicer }: Pick<HttpObjectPorts, 'timeSlicer'>,
  namespace: string,
): WorkBudget {
  const owner = `${controllerName} ${namespace}`;
  return new WorkBudget({ limits, owner, ...(timeSlicer && { timeSlicer }) });
}
