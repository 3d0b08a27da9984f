import type { Random } from '../util/random.ts';

/** Where a sandbox listens. */
export interface SandboxAddress {
  /** Prefix of all paths, with a slash. Grants full access. */
  readonly path: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A new address, which cannot be guessed. */
export function newAddress(random: Random, port: number): SandboxAddress {
  return { path: `/${random.text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`, port };
}

/** Adds the address to the text of a snapshot, which ignores it. */
export function withAddress(snapshot: string, { path, port }: SandboxAddress): string {
  return snapshot.replace('{', `{"address":{"path":"${path}","port":${port}},`);
}

/** The address in the text of a snapshot. Undefined: it has none. */
export function addressIn(snapshot: string): SandboxAddress | undefined {
  const [, path, port] =
    /^\{"address":\{"path":"(\/[a-z0-9]{32})","port":(\d{1,5})\},/.exec(snapshot) ?? [];
  return path === undefined ? undefined : { path, port: Number(port) };
}
