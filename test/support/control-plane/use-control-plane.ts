import { after, before, describe } from 'node:test';
import { AuditLog } from './audit-log.ts';
import { type BinarySearch, missingBinariesMessage, searchBinaries } from './binaries.ts';
import { type ControlPlaneOptions, type Plane, startControlPlane } from './control-plane.ts';
import type { PlaneClient } from './plane-client.ts';
import { startSandboxPlane } from './sandbox-plane.ts';
import { type MinorRelease, skipBefore } from './versions.ts';

/** The shared control plane of a test file. It runs within its `describe`. */
export interface SharedControlPlane {
  /**
   * As `describe` of `node:test`: starts the control plane before its tests, and stops it after them. Where it can be neither found nor
   * built the tests are skipped, loudly; with `CI=true` that is an error.
   */
  describe(name: string, body: () => void): void;
  describe(name: string, options: SuiteOptions, body: () => void): void;
  /** Called after the tests, before the control plane stops. */
  onEnd(end: () => unknown): void;
  /** The running plane. Only within tests and hooks. */
  readonly plane: Plane;
  /** Its audit log, if it was asked for. Only within tests and hooks. */
  readonly audit: AuditLog;
  /** A test client; for `admin` by default. */
  client(user?: string): PlaneClient;
  /** Makes a namespace for one test and returns its name. */
  namespace(): Promise<string>;
}

/**
 * The control plane of a test file: a real one, or with `HOMEOSTAT_TEST_BACKEND=sandbox` a sandbox that plays one. Nothing starts when
 * a file is loaded, so that files can share a process.
 * @example
 * const shared = useControlPlane({ audit: true });
 * shared.describe('integration/podset', () => {
 *   test('makes a Deployment', async () => {
 *     const namespace = await shared.namespace();
 *     await shared.client().apply(...);
 *   });
 * });
 */
export function useControlPlane(options: ControlPlaneOptions = {}): SharedControlPlane {
  return new PlaneOfFile(options);
}

interface SuiteOptions {
  readonly concurrency?: number;
  /** The oldest release that has what the suite is about. @default any */
  readonly since?: MinorRelease;
  /** Why it cannot run here. @default false */
  readonly skip?: string | false;
}

class PlaneOfFile implements SharedControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #ends: (() => unknown)[] = [];
  #plane: Plane | undefined;
  #audit: AuditLog | undefined;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
  }

  describe(name: string, options: SuiteOptions | (() => void), body?: () => void): void {
    if (typeof options === 'function') this.#describe(name, {}, options);
    else this.#describe(name, options, body ?? (() => {}));
  }

  #describe(name: string, options: SuiteOptions, body: () => void): void {
    const isSandbox = process.env.HOMEOSTAT_TEST_BACKEND === 'sandbox';
    const { since, skip: missing = false, ...rest } = options;
    const isTooOld = since !== undefined && skipBefore(since);
    const skip =
      missing ||
      isTooOld ||
      (!isSandbox && reasonToSkip(searchBinaries(), process.env.CI === 'true'));
    if (skip !== false) process.stderr.write(`\n*** SKIPPED: ${skip}\n\n`);
    describe(name, { ...rest, skip }, () => {
      if (skip === false) {
        // The first start of all may have to build the binaries.
        before(() => this.#start(isSandbox ? startSandboxPlane : startControlPlane), {
          timeout: 1_800_000,
        });
      }
      body();
      after(() => this.#stop());
    });
  }

  onEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  get plane(): Plane {
    return running(this.#plane);
  }

  get audit(): AuditLog {
    return running(this.#audit);
  }

  client(user?: string): PlaneClient {
    return this.plane.client(user);
  }

  namespace(): Promise<string> {
    return this.client().createNamespace();
  }

  async #start(startPlane: (options: ControlPlaneOptions) => Promise<Plane>): Promise<void> {
    this.#plane = await startPlane(this.#options);
    if (this.#options.audit === true) this.#audit = new AuditLog(this.#plane);
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
    await this.#plane?.stop();
    this.#plane = undefined;
    this.#audit = undefined;
  }
}

function running<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('Not started, or not asked for');
  return value;
}

/** False, or why tests have to do without. @throws Error with that reason in CI. */
export function reasonToSkip({ missing, go }: BinarySearch, isCi: boolean): string | false {
  if (missing.length === 0 || go !== undefined) return false;
  const reason = missingBinariesMessage(missing);
  if (isCi) throw new Error(reason);
  return reason;
}
