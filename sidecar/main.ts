import { refuseOldNode } from './shared/node-version.js';

refuseOldNode(process);
void import('./serve.js');
