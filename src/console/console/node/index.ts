export {
  type ConsoleServer,
  type ConsoleServerOptions,
  startConsoleServer,
} from './console-server.ts';
export { DirectRecords } from './direct-records.ts';
export { folderFiles } from './folder-files.ts';
export { ProxiedRecords } from './proxied-records.ts';
