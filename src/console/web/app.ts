import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { ConsoleBackend } from './contract.ts';
import { handleKeys } from './keyboard.ts';
import { needsOf, pageOf } from './pages/page.ts';
import { connecting } from './pages/shell.ts';
import { render } from './preact.ts';
import { hrefOf, parseRoute } from './route.ts';
import { ConsoleStore } from './store/console-store.ts';
import { storedTheme, storeTheme } from './stored-theme.ts';
import type { Actions, Notice, UiState, View } from './view.ts';
import type { Workbench } from './workbench/workbench.ts';

export interface AppOptions {
  readonly backend: ConsoleBackend;
  readonly clock: Clock;
  readonly window: Window;
  readonly root: HTMLElement;
  /** Files that are edited beside the pages. @default undefined: none are */
  readonly workbench?: Workbench;
}

export interface RunningApp {
  /** Reads everything again: the backend answers for another cluster. */
  restart(): void;
  /** Draws again: the workbench has changed. */
  redraw(): void;
  stop(): void;
}

const narrowQuery = '(max-width: 720px)';
/** Ages are drawn again. */
const ageMs = 5_000;
/** How long the result of an action is shown. */
const noticeMs = 6_000;

/** Runs the console in an element. */
export function startApp(options: AppOptions): RunningApp {
  const app = new App(options);
  const stop = app.start();
  return { stop, restart: () => app.restart(), redraw: () => app.redraw() };
}

class App {
  readonly #options: AppOptions;
  #store: ConsoleStore;
  #ui: UiState;
  #isScheduled = false;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#store = this.#createStore();
    this.#ui = {
      search: '',
      theme: storedTheme(options.window),
      isHelpOpen: false,
      question: undefined,
      notice: undefined,
      isUnfolded: false,
      revealed: undefined,
    };
  }

  start(): () => void {
    const { window } = this.#options;
    const draw = () => this.#schedule();
    const narrow = window.matchMedia(narrowQuery);
    const timer = window.setInterval(draw, ageMs);
    const stopKeys = handleKeys(window, this.#actions, () => this.#ui);
    window.addEventListener('hashchange', this.#onAddress);
    narrow.addEventListener('change', draw);
    void this.#store.start();
    this.#draw();
    return () => {
      window.clearInterval(timer);
      window.removeEventListener('hashchange', this.#onAddress);
      narrow.removeEventListener('change', draw);
      stopKeys();
      this.#store.stop();
      render(null, this.#options.root);
    };
  }

  restart(): void {
    this.#store.stop();
    this.#store = this.#createStore();
    void this.#store.start();
    this.#schedule();
  }

  redraw(): void {
    this.#schedule();
  }

  #createStore(): ConsoleStore {
    const { backend, clock } = this.#options;
    const store: ConsoleStore = new ConsoleStore({
      backend,
      clock,
      onChange: () => {
        if (store === this.#store) this.#schedule();
      },
    });
    return store;
  }

  readonly #onAddress = (): void => {
    // A Secret stays masked on the next page.
    this.#ui = { ...this.#ui, revealed: undefined };
    this.#schedule();
  };

  readonly #actions: Actions = {
    set: (change) => {
      this.#ui = { ...this.#ui, ...change };
      this.#schedule();
    },
    go: (route) => {
      this.#options.window.location.hash = hrefOf(route);
    },
    run: (action) => {
      action().then(
        (text) => this.#showNotice({ isError: false, text }),
        (error: unknown) =>
          this.#actions.set({
            notice: { isError: true, text: messageOf(error) },
          }),
      );
    },
    ask: (question) => this.#actions.set({ question }),
  };

  /** Errors stay until they are closed. */
  #showNotice(notice: Notice): void {
    this.#actions.set({ notice });
    this.#options.clock.after(noticeMs, () => {
      if (this.#ui.notice === notice) this.#actions.set({ notice: undefined });
    });
  }

  /** Changes of one frame are drawn together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const draw = () => {
      this.#isScheduled = false;
      this.#draw();
    };
    const { window } = this.#options;
    // A hidden window has no frames, and its lists must still be followed.
    if (window.document.hidden) window.setTimeout(draw, 250);
    else window.requestAnimationFrame(draw);
  }

  #draw(): void {
    const { window, root, backend, clock, workbench } = this.#options;
    const shared = { ui: this.#ui, actions: this.#actions, ...(workbench && { workbench }) };
    const { info } = this.#store;
    window.document.documentElement.dataset.theme = this.#ui.theme;
    storeTheme(window, this.#ui.theme);
    if (info === undefined) {
      render(connecting(this.#store.error, shared), root);
      return;
    }
    const view: View = {
      route: parseRoute(window.location.hash),
      store: this.#store,
      backend,
      info,
      ...shared,
      nowMs: clock.nowMs(),
      isNarrow: window.matchMedia(narrowQuery).matches,
    };
    this.#store.follow(needsOf(view, backend));
    window.document.title = titleOf(view);
    render(pageOf(view), root);
  }
}

function titleOf({ route, info }: View): string {
  const page = pageTitle(route);
  return `${page} \u00b7 ${info.cluster} \u00b7 Homeostat`;
}

function pageTitle(route: View['route']): string {
  switch (route.page) {
    case 'definition':
      return route.name;
    case 'resource':
      return `${route.resource.kind} ${route.resource.name}`;
    case 'resources':
      return route.kind ?? 'Resources';
    case 'clusters':
      return 'Clusters';
    default:
      return 'Overview';
  }
}
