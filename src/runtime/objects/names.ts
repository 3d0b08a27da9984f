import { definitionApiVersion, definitionKind } from '../../definition/index.ts';
import type { Flow, PassToken } from '../../kube/roles.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';

/** `OperatorDefinition`: every definition, from any source. */
export const definitionGvk: Gvk = gvkOf(definitionApiVersion, definitionKind);
/** Name of its CRD. */
export const definitionCrdName = 'operatordefinitions.homeostat.dev';

/** Requests for definitions have a lower priority than those for resources. */
export function flowOf(definition: string): Flow {
  return { name: definition, priority: 'status' };
}

/** Writers of `OperatorDefinition` objects. */
type ObjectWriterName = 'publisher' | 'controller';

/** Marks a write, so that its watch event does not enqueue the writer again. */
export function passTokenOf(definition: string, writer: ObjectWriterName): PassToken {
  const own = passName(writer);
  return { key: `${own}/${definition}`, definition: own };
}

export function isWriteOf(writer: ObjectWriterName, pass: PassToken | undefined): boolean {
  return pass?.definition === passName(writer);
}

function passName(writer: ObjectWriterName): string {
  return `homeostat.dev/operatordefinitions/${writer}`;
}
