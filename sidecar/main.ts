import { endWhileStarting } from './shared/first-process.js';
import { refuseOldNode } from './shared/node-version.js';

refuseOldNode(process);
endWhileStarting(process);
if (process.argv.length > 2) void import('./main-help.js');
else void import('./serve.js');
