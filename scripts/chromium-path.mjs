import { existsSync } from 'node:fs';

/** The browser of tests and screenshots. Undefined: there is none. */
export function chromiumPath() {
  const paths = [process.env.HOMEOSTAT_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
  return paths.find((path) => path !== undefined && existsSync(path));
}
