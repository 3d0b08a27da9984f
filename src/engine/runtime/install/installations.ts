import type { InstallTask, InstallTasks } from '../definitions/install-tasks.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { Installation, type InstallationOptions } from './installation.ts';

interface InstallationsOptions extends Omit<InstallationOptions, 'name' | 'listener'> {
  readonly listenerOf: (name: string) => ViewListener;
}

/** The objects of all definitions themselves. */
export class Installations implements InstallTasks {
  readonly #options: InstallationsOptions;
  readonly #installations = new Map<string, Installation>();
  readonly #stopper = new AbortController();

  constructor(options: InstallationsOptions) {
    this.#options = options;
  }

  want(name: string, task: InstallTask): void {
    const known = this.#installations.get(name);
    if (known === undefined && task.kind === 'keep') return;
    const listener = this.#options.listenerOf(name);
    const installation =
      known ?? new Installation({ ...this.#options, name, listener }, this.#stopper.signal);
    this.#installations.set(name, installation);
    installation.want(task);
  }

  problemOf(name: string): string | undefined {
    return this.#installations.get(name)?.problem;
  }

  isDone(name: string): boolean {
    return this.#installations.get(name)?.isDone ?? true;
  }

  async forget(name: string): Promise<void> {
    const known = this.#installations.get(name);
    this.#installations.delete(name);
    await known?.stop();
  }
}
