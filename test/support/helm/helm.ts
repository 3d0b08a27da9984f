import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseYamlDocuments } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ensureHelm } from './ensure-helm.ts';

export interface HelmOutcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs helm, far from the settings of the user who runs the tests. */
export class Helm {
  readonly #binary: string;

  constructor(binary: string) {
    this.#binary = binary;
  }

  /** Without holding this process up: what helm asks may be a server in it. */
  async run(...args: readonly string[]): Promise<HelmOutcome> {
    const home = mkdtempSync(join(tmpdir(), 'homeostat-helm-'));
    try {
      const env = { PATH: process.env.PATH, HOME: home };
      const child = spawn(this.#binary, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [[code], output, errors] = await Promise.all([
        once(child, 'close'),
        text(child.stdout),
        text(child.stderr),
      ]);
      return { code: code ?? -1, output, errors };
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  /** `helm template`. @throws Error when helm rejects. */
  async template(...args: readonly string[]): Promise<string> {
    const { code, output, errors } = await this.run('template', ...args);
    if (code !== 0) throw new Error(`helm template ${args.join(' ')}: ${errors}`);
    return output;
  }
}

/** @throws Error where helm can be neither found nor built. */
export async function createHelm(): Promise<Helm> {
  const binary = await ensureHelm();
  if (binary === undefined) throw new Error('No helm: install Go, or set TEST_ASSET_HELM to it');
  return new Helm(binary);
}

/** The objects of a rendering. */
export function objectsOf(text: string): readonly KubeObject[] {
  return parseYamlDocuments(text).flatMap((each) =>
    isJsonObject(each) ? [each as unknown as KubeObject] : [],
  );
}
