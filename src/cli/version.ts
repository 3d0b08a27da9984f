import packageJson from '../../package.json' with { type: 'json' };

/** The released version, from `package.json`. */
export const version: string = packageJson.version;

export interface Versions {
  readonly homeostat: string;
  /** Version of the server whose API the sandbox simulates, and whose schemas definitions are checked with. */
  readonly kubernetes: string;
  readonly node: string;
}

/** The versions for people. */
export function versionLines({ homeostat, kubernetes, node }: Versions): readonly string[] {
  return [`homeostat ${homeostat}`, `Kubernetes API ${kubernetes} (simulated)`, `Node ${node}`];
}
