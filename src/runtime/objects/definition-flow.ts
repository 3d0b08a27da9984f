import type { Flow, PassToken } from '../../kube/roles.ts';

/** What is shown of a definition waits for nobody's world: it goes with the reports. */
export function flowOf(definition: string): Flow {
  return { name: definition, priority: 'status' };
}

const ourPasses = 'homeostat.dev/operatordefinitions';

/** The mark of our own writes, which wake nobody here. */
export function passOf(definition: string): PassToken {
  return { key: `${ourPasses}/${definition}`, definition: ourPasses };
}

export function isOurs(pass: PassToken | undefined): boolean {
  return pass?.definition === ourPasses;
}
