import t from 'tap'
import { shells } from '#test/fixtures/gallery/shells.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, shells)
