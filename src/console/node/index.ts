export {
  type ConsoleServer,
  type ConsoleServerOptions,
  startConsoleServer,
} from './console-server.ts';
export { folderFiles } from './folder-files.ts';
