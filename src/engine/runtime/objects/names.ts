import { definitionApiVersion, definitionKind } from '#definition';
import type { Flow, PassToken } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';

/** `OperatorDefinition`: every definition, from any source. */
export const definitionGvk: Gvk = gvkOf(definitionApiVersion, definitionKind);
/** Name of its CRD. */
export const definitionCrdName = 'operatordefinitions.homeostat.dev';

/** Requests for definitions have a lower priority than those for resources. */
export function flowOf(definition: string): Flow {
  return { name: definition, priority: 'status' };
}

const ownPass = 'homeostat.dev/operatordefinitions';

/** Marks a write of the reconcile of a definition, so that its watch event does not enqueue it again. */
export function passTokenOf(definition: string): PassToken {
  return { key: `${ownPass}/${definition}`, definition: ownPass };
}

export function isOwnWrite(pass: PassToken | undefined): boolean {
  return pass?.definition === ownPass;
}
