import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.OfflineSorter;

/** Sorts lines by Lucene's OfflineSorter: `LuceneSort INPUT OUTPUT MEBIBYTES`. Temporary files are in TMPDIR. */
class LuceneSort {
  public static void main(String[] words) throws IOException {
    try (Directory temp = FSDirectory.open(Path.of(System.getenv("TMPDIR")))) {
      var memory = OfflineSorter.BufferSize.megabytes(Integer.parseInt(words[2]));
      var sorter = new OfflineSorter(temp, "sort", OfflineSorter.DEFAULT_COMPARATOR, memory, OfflineSorter.MAX_TEMPFILES, -1, null, 0);
      String input = packed(temp, Path.of(words[0]));
      String sorted = sorter.sort(input);
      temp.deleteFile(input);
      unpack(temp, sorted, Path.of(words[1]));
      temp.deleteFile(sorted);
    }
  }

  /** Returns the name of a temporary file that has the lines in the form that the sorter reads. */
  private static String packed(Directory temp, Path input) throws IOException {
    try (InputStream lines = new BufferedInputStream(Files.newInputStream(input), 1 << 16);
        IndexOutput out = temp.createTempOutput("lines", "in", IOContext.DEFAULT)) {
      var writer = new OfflineSorter.ByteSequencesWriter(out);
      var line = new ByteArrayOutputStream();
      for (int next = lines.read(); next >= 0; next = lines.read()) {
        if (next != '\n') {
          line.write(next);
          continue;
        }
        writer.write(line.toByteArray());
        line.reset();
      }
      if (line.size() > 0) writer.write(line.toByteArray());
      CodecUtil.writeFooter(out);
      return out.getName();
    }
  }

  private static void unpack(Directory temp, String sorted, Path output) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output), 1 << 16);
        var reader = new OfflineSorter.ByteSequencesReader(temp.openChecksumInput(sorted, IOContext.READONCE), sorted)) {
      for (BytesRef line = reader.next(); line != null; line = reader.next()) {
        out.write(line.bytes, line.offset, line.length);
        out.write('\n');
      }
    }
  }
}
