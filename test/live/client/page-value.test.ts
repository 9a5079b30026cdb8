import { afterEach, expect, test, vi } from 'vitest';
import { drawWith, pageValue } from '../../../live/client/page-value.ts';

const draw = vi.fn();
const soon = () => new Promise((resolve) => setImmediate(resolve));
afterEach(() => drawWith(() => {}));

test('page values: the page is drawn at once, and once more when values have changed together', async () => {
  draw.mockClear();
  const [stage, drill] = [pageValue('4-ttl'), pageValue('rush')];
  drawWith(draw);
  expect(draw).toHaveBeenCalledTimes(1);

  stage.value = '5-owner-check';
  drill.value = 'late-release';
  expect([stage.value, drill.value]).toEqual(['5-owner-check', 'late-release']);
  expect(draw).toHaveBeenCalledTimes(1);
  await soon();
  expect(draw).toHaveBeenCalledTimes(2);
});

test('page values: what stays the same draws nothing; what changes while the page is drawn, draws it again', async () => {
  const width = pageValue(0);
  drawWith(draw);
  draw.mockClear();
  width.value = 0;
  await soon();
  expect(draw).not.toHaveBeenCalled();

  draw.mockImplementationOnce(() => {
    width.value = 2;
  });
  width.value = 1;
  await soon();
  expect(draw).toHaveBeenCalledTimes(2);
  expect(width.value).toBe(2);
});
