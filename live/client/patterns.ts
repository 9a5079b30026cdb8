// The hatchings that the pictures and the timelines refer to: once in the page.

import { html } from 'htm/preact';
import { timelinePatterns } from '../../loadtest/report/timeline.ts';

export function Patterns() {
  return html`<div class="patterns" aria-hidden="true">
    <div dangerouslySetInnerHTML=${{ __html: timelinePatterns().markup }}></div>
    <svg>
      <defs>
        <pattern id="part-stopped" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path class="hatch" d="M0 0V12" />
        </pattern>
        <pattern id="part-dead" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path class="hatch" d="M0 0V12M0 0H12" />
        </pattern>
        <pattern id="part-cut" width="12" height="12" patternUnits="userSpaceOnUse">
          <circle class="hatch-dot" cx="6" cy="6" r="1.8" />
        </pattern>
      </defs>
    </svg>
  </div>`;
}
