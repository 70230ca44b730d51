#!/usr/bin/env node
import { refuseOldNode } from './shared/node-version.js';

refuseOldNode(process);
void import('./cli/main.js');
