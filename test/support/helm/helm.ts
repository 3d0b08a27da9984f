import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYamlDocuments } from '../../../src/definition/index.ts';
import { isJsonObject } from '../../../src/util/json.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { ensureHelm } from './ensure-helm.ts';

export interface HelmOutcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs helm, far from the settings of whoever runs the tests. */
export class Helm {
  readonly #binary: string;

  constructor(binary: string) {
    this.#binary = binary;
  }

  run(...args: readonly string[]): HelmOutcome {
    const home = mkdtempSync(join(tmpdir(), 'homeostat-helm-'));
    try {
      const env = { PATH: process.env.PATH, HOME: home };
      const { status, stdout, stderr, error } = spawnSync(this.#binary, args, {
        encoding: 'utf8',
        env,
        maxBuffer: 1 << 26,
      });
      if (error !== undefined) throw error;
      return { code: status ?? -1, output: stdout, errors: stderr };
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  /** `helm template`. @throws Error when helm refuses. */
  template(...args: readonly string[]): string {
    const { code, output, errors } = this.run('template', ...args);
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
